(() => {
  const all = (where, what) => [...where.querySelectorAll(what)];
  const body = document.body, tip = document.getElementById('tip'), search = document.getElementById('search');
  const views = all(document, 'section').map(section => {
    const svg = section.querySelector('svg'), box = svg.viewBox.baseVal;
    const told = JSON.parse(section.querySelector('script').textContent);
    const view = { section, svg, told, stage: svg.querySelector('.stage'), width: box.width, height: box.height, x: 0, y: 0, scale: 0 };
    svg.removeAttribute('viewBox');
    // Lines are thin: what is pointed at is wider.
    all(svg, '.line').forEach(line => line.before(line.cloneNode()));
    all(svg, '.edge').forEach(edge => edge.firstChild.setAttribute('class', 'grip'));
    return view;
  });
  if (!views.length) return;
  body.classList.add('js');
  let now = null, pinned = null, hits = [], hit = -1;
  const show = v => v.stage.setAttribute('transform', `translate(${v.x} ${v.y}) scale(${v.scale})`);
  const frame = v => v.svg.getBoundingClientRect();
  const below = v => v.section.querySelector('header').offsetHeight + 14;

  // The first look: as large as it can be read, the entry at the top.
  const open = v => {
    const f = frame(v), fit = Math.min((f.width - 32) / v.width, (f.height - below(v) - 16) / v.height);
    v.scale = Math.min(1, Math.max(fit, 0.8));
    const entry = v.stage.querySelector('.card[data-block="b0"]');
    const wide = v.width * v.scale > f.width;
    const middle = entry && wide ? entry.getBBox().width / 2 + place(entry)[0] : v.width / 2 - 16;
    v.x = f.width / 2 - middle * v.scale;
    v.y = below(v);
    show(v);
  };
  const place = card => { const m = card.transform.baseVal.getItem(0).matrix; return [m.e, m.f]; };
  const zoom = (v, factor, x, y) => {
    const f = frame(v);
    x = x === undefined ? f.width / 2 : x - f.left;
    y = y === undefined ? f.height / 2 : y - f.top;
    const scale = Math.min(4, Math.max(0.03, v.scale * factor));
    v.x = x - (x - v.x) * scale / v.scale;
    v.y = y - (y - v.y) * scale / v.scale;
    v.scale = scale;
    show(v);
  };
  const fit = v => {
    const f = frame(v), top = below(v);
    v.scale = Math.min((f.width - 32) / v.width, (f.height - top - 16) / v.height, 2);
    v.x = (f.width - (v.width - 32) * v.scale) / 2;
    v.y = top;
    show(v);
  };
  const act = { in: () => zoom(now, 1.25), out: () => zoom(now, 0.8), one: () => zoom(now, 1 / now.scale), fit: () => fit(now) };
  const select = () => {
    const v = views.find(v => '#' + v.section.id === location.hash) || views[0];
    views.forEach(o => o.section.classList.toggle('current', o === v));
    all(document, 'nav a').forEach(a => a.classList.toggle('current', a.getAttribute('href') === '#' + v.section.id));
    now = v;
    if (!v.scale) open(v);
    find(false);
  };

  // All uses of a value, or the way that leads out of a port.
  const dark = () => all(document, '.lit').forEach(e => e.classList.remove('lit'));
  const light = target => {
    dark();
    const value = target.closest('[data-v]'), edge = target.closest('.edge'), port = target.closest('.port');
    const block = target.closest('.card');
    if (value) all(now.stage, `.value[data-v="${value.dataset.v}"]`).forEach(e => e.classList.add('lit'));
    const ways = edge ? [edge] : port ? all(now.stage, '.edge').filter(e => e.dataset.from === block.dataset.block && e.dataset.to === port.dataset.to) : [];
    for (const way of ways) {
      way.querySelector('.line').classList.add('lit');
      all(now.stage, `.card[data-block="${way.dataset.to}"] .frame`).forEach(e => e.classList.add('lit'));
      if (edge) all(now.stage, `.card[data-block="${way.dataset.from}"] .frame`).forEach(e => e.classList.add('lit'));
    }
    return value;
  };
  const tell = (value, x, y) => {
    const uses = all(now.stage, `.value[data-v="${value.dataset.v}"]`).length;
    tip.textContent = now.told[value.dataset.v] + `\nshown ${uses} ${uses === 1 ? 'time' : 'times'} here`;
    tip.hidden = false;
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? Math.max(4, y - tip.offsetHeight - 12) : y + 18) + 'px';
  };
  document.addEventListener('mouseover', e => {
    if (!e.target.closest || !e.target.closest('.picture')) return;
    if (pinned && !e.target.closest('[data-v]')) { tip.hidden = true; return; }
    const value = light(pinned || e.target), under = e.target.closest('[data-v]');
    if (under) tell(under, e.clientX, e.clientY); else if (!value || pinned) tip.hidden = true;
  });
  let held = null, moved = false;
  const pointers = new Map();
  document.addEventListener('pointerdown', e => {
    if (!e.target.closest('.picture')) return;
    pointers.set(e.pointerId, e);
    held = [e.clientX - now.x, e.clientY - now.y];
    moved = false;
  });
  document.addEventListener('pointermove', e => {
    if (!held || !pointers.has(e.pointerId)) return;
    const others = [...pointers.values()].filter(p => p.pointerId !== e.pointerId);
    if (others.length === 1) {
      const far = p => Math.hypot(p.clientX - others[0].clientX, p.clientY - others[0].clientY);
      zoom(now, far(e) / Math.max(1, far(pointers.get(e.pointerId))), others[0].clientX, others[0].clientY);
      pointers.set(e.pointerId, e);
      moved = true;
      return;
    }
    const [x, y] = [e.clientX - held[0], e.clientY - held[1]];
    if (Math.abs(x - now.x) + Math.abs(y - now.y) > 3) moved = true;
    if (!moved) return;
    [now.x, now.y] = [x, y];
    now.svg.classList.add('held');
    tip.hidden = true;
    show(now);
  });
  const drop = e => {
    pointers.delete(e.pointerId);
    held = null;
    if (now) now.svg.classList.remove('held');
  };
  document.addEventListener('pointercancel', drop);
  document.addEventListener('pointerup', e => {
    const clicked = held && !moved;
    drop(e);
    if (!clicked) return;
    const port = e.target.closest('.port'), value = e.target.closest('[data-v]');
    pinned = value;
    if (!value) tip.hidden = true;
    light(e.target);
    if (port && !value) center(now.stage.querySelector(`.card[data-block="${port.dataset.to}"]`));
  });
  document.addEventListener('wheel', e => {
    if (!e.target.closest('.picture')) return;
    e.preventDefault();
    if (e.ctrlKey || e.metaKey) return zoom(now, Math.exp(-e.deltaY / 250), e.clientX, e.clientY);
    const unit = e.deltaMode === 1 ? 17 : 1;
    now.x -= (e.shiftKey ? e.deltaY : e.deltaX) * unit;
    now.y -= (e.shiftKey ? 0 : e.deltaY) * unit;
    show(now);
  }, { passive: false });

  const center = element => {
    if (!element) return;
    const f = frame(now), r = element.getBoundingClientRect();
    now.x += f.left + f.width / 2 - (r.left + r.width / 2);
    now.y += f.top + f.height / 3 - r.top;
    show(now);
  };
  const find = go => {
    all(document, '.hit').forEach(e => e.classList.remove('hit'));
    const wanted = search.value.trim().toLowerCase();
    hits = wanted ? all(now.stage, 'text').filter(t => {
      const text = all(t, '*').length ? t.textContent.replace(/(v\d+)[grb]/g, '$1') : t.textContent;
      return /^[vb]\d+$/.test(wanted) ? new RegExp(`\\b${wanted}\\b`).test(text) : text.toLowerCase().includes(wanted);
    }) : [];
    hits.forEach(e => e.classList.add('hit'));
    if (go && hits.length) center(hits[hit = (hit + go + hits.length) % hits.length]);
    document.getElementById('found').textContent = wanted ? `${hits.length} found${hits.length ? ', Enter goes to the next' : ''}` : '';
  };
  search.addEventListener('input', () => { hit = -1; find(false); });
  document.addEventListener('keydown', e => {
    if (e.target === search) {
      if (e.key === 'Enter') find(e.shiftKey ? -1 : 1);
      if (e.key === 'Escape') search.blur();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const keys = { '+': 'in', '=': 'in', '-': 'out', '1': 'one', '0': 'fit' };
    if (keys[e.key]) act[keys[e.key]]();
    if (e.key === '/') { search.focus(); e.preventDefault(); }
    if (e.key === 'Escape') { pinned = null; tip.hidden = true; dark(); }
  });
  document.getElementById('zoom').addEventListener('click', e => { if (e.target.dataset.zoom) act[e.target.dataset.zoom](); });
  addEventListener('hashchange', select);
  select();
})();
