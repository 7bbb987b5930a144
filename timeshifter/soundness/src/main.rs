//! try
use rules::prove::{Answer, Solver};
use soundness::theorem::theorems;
use std::io::Write;
use std::time::*;
fn main() {
    let filter: Vec<String> = std::env::args().skip(1).collect();
    let (solver, _) = Solver::new(Duration::from_secs(600)).unwrap();
    let t = Duration::from_secs(std::env::var("T").map_or(20, |t| t.parse().unwrap()));
    let all = Instant::now();
    for p in theorems() {
        if !filter.is_empty() && !filter.iter().any(|f| p.name().contains(f)) { continue; }
        if soundness::theorem::tested_only(p).is_some() { continue; }
        let started = Instant::now();
        let qs = p.questions();
        print!("{:36} {} ms:", p.name(), started.elapsed().as_millis()); let _ = std::io::stdout().flush();
        for (i, q) in qs.iter().enumerate() {
            if std::env::var("DUMP").is_ok() {
            std::fs::write(format!("/tmp/q/{}.{i}", p.name().replace("::", "_").replace(' ', "_")), format!("{}(check-sat)\n", q.script)).unwrap();
            }
            let started = Instant::now();
            let a = match solver.ask(&q.script, false, &[], t) { Answer::Unsat => "ok".to_owned(), Answer::Sat(_) => format!("REFUTED ({})", q.what), Answer::Unknown(s) => format!("UNKNOWN {s} ({})", q.what) };
            print!(" {a} {:.1} s;", started.elapsed().as_secs_f64());
            let _ = std::io::stdout().flush();
        }
        println!();
    }
    println!("{:?}", all.elapsed());
}
