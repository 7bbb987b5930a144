_ZN6native13collatz_total17h80363a63edb223fbE:
	cmpq	$2, %rdi
	jge	.LBB0_2
	xorl	%eax, %eax
	retq
.LBB0_2:
	jne	.LBB0_4
	xorl	%eax, %eax
	jmp	.LBB0_11
.LBB0_4:
	leaq	-1(%rdi), %rcx
	movq	%rcx, %rdx
	andq	$-2, %rdx
	xorl	%eax, %eax
	xorl	%esi, %esi
.LBB0_5:
	movq	%rdi, %r8
.LBB0_6:
	movq	%r8, %r9
	shrq	%r9
	testb	$1, %r8b
	leaq	1(%r8,%r8,2), %r8
	cmoveq	%r9, %r8
	incq	%rax
	cmpq	$1, %r8
	jg	.LBB0_6
	leaq	-1(%rdi), %r8
.LBB0_8:
	movq	%r8, %r9
	shrq	%r9
	testb	$1, %r8b
	leaq	1(%r8,%r8,2), %r8
	cmoveq	%r9, %r8
	incq	%rax
	cmpq	$1, %r8
	jg	.LBB0_8
	addq	$-2, %rdi
	addq	$2, %rsi
	cmpq	%rdx, %rsi
	jne	.LBB0_5
	testb	$1, %cl
	je	.LBB0_12
.LBB0_11:
	movq	%rdi, %rcx
	shrq	%rcx
	testb	$1, %dil
	leaq	1(%rdi,%rdi,2), %rdi
	cmoveq	%rcx, %rdi
	incq	%rax
	cmpq	$1, %rdi
	jg	.LBB0_11
.LBB0_12:
	retq
.Lfunc_end0:

_ZN6native13fib_recursive17h827d547dc967f753E:
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	xorl	%ebx, %ebx
	cmpq	$2, %rdi
	jl	.LBB1_3
	movq	_ZN6native13fib_recursive17h827d547dc967f753E@GOTPCREL(%rip), %r14
.LBB1_2:
	movq	%rdi, %r15
	decq	%rdi
	callq	*%r14
	leaq	-2(%r15), %rdi
	addq	%rax, %rbx
	cmpq	$3, %r15
	ja	.LBB1_2
.LBB1_3:
	addq	%rdi, %rbx
	movq	%rbx, %rax
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
.Lfunc_end1:

_ZN6native6primes17h62853663df194b46E:
	cmpq	$3, %rdi
	jl	.LBB2_11
	movl	$2, %esi
	xorl	%ecx, %ecx
	jmp	.LBB2_4
.LBB2_2:
	xorl	%r8d, %r8d
.LBB2_3:
	addq	%r8, %rcx
	incq	%rsi
	cmpq	%rdi, %rsi
	je	.LBB2_12
.LBB2_4:
	movl	$1, %r8d
	cmpq	$4, %rsi
	jb	.LBB2_3
	movl	$2, %r9d
	jmp	.LBB2_6
.LBB2_9:
	movl	%esi, %eax
	xorl	%edx, %edx
	divl	%r9d
	testq	%rdx, %rdx
	je	.LBB2_2
.LBB2_10:
	incq	%r9
	movq	%r9, %rax
	imulq	%r9, %rax
	cmpq	%rsi, %rax
	jg	.LBB2_3
.LBB2_6:
	testq	%r9, %r9
	je	.LBB2_13
	movq	%rsi, %rax
	orq	%r9, %rax
	shrq	$32, %rax
	je	.LBB2_9
	movq	%rsi, %rax
	cqto
	idivq	%r9
	testq	%rdx, %rdx
	jne	.LBB2_10
	jmp	.LBB2_2
.LBB2_11:
	xorl	%ecx, %ecx
.LBB2_12:
	movq	%rcx, %rax
	retq
.LBB2_13:
	pushq	%rax
	leaq	.Lanon.da4f248ab327711df0c18228333b658a.1(%rip), %rdi
	callq	*_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const23panic_const_div_by_zero@GOTPCREL(%rip)
.Lfunc_end2:

_ZN6native8checksum17h7312116bb5b47994E:
	testq	%rdi, %rdi
	jle	.LBB3_1
	cmpq	$1, %rdi
	jne	.LBB3_4
	xorl	%eax, %eax
	jmp	.LBB3_11
.LBB3_1:
	xorl	%eax, %eax
	retq
.LBB3_4:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movabsq	$9223372036854775806, %rax
	andq	%rdi, %rax
	movq	%rax, -8(%rsp)
	leaq	1(%rdi), %rsi
	movq	%rdi, %r8
	imulq	%rsi, %r8
	leaq	(,%rdi,4), %rax
	movl	$2, %r9d
	subq	%rax, %r9
	movq	%rdi, %r10
	negq	%r10
	leaq	-1(%rdi), %rcx
	imulq	%rcx, %rcx
	leaq	(%rdi,%rcx), %r11
	decq	%r11
	movl	$6, %ebx
	subq	%rax, %rbx
	movl	$1, %r14d
	subq	%rdi, %r14
	xorl	%r12d, %r12d
	movq	%rdi, -16(%rsp)
	xorl	%r15d, %r15d
.LBB3_5:
	movq	%r8, %rax
	movq	%rsi, %r13
	movq	%rdi, %rcx
.LBB3_6:
	movq	%r12, %rbp
	shlq	$5, %rbp
	subq	%r12, %rbp
	movq	%rcx, %r12
	imulq	%rdi, %r12
	addq	%rbp, %r12
	decq	%rcx
	decq	%r13
	addq	%r10, %rax
	cmpq	$1, %r13
	ja	.LBB3_6
	leaq	-1(%rdi), %rdx
	addq	%rax, %rbp
	movq	%r11, %r13
	movq	%rdi, %rcx
	movq	%rdx, %r12
.LBB3_8:
	movq	%rbp, %rax
	shlq	$5, %rax
	subq	%rbp, %rax
	movq	%r12, %rbp
	imulq	%rdx, %rbp
	addq	%rax, %rbp
	decq	%r12
	decq	%rcx
	addq	%r14, %r13
	cmpq	$1, %rcx
	ja	.LBB3_8
	addq	$-2, %rdi
	addq	$2, %r15
	addq	$-2, %rsi
	addq	%r9, %r8
	addq	$8, %r9
	addq	$2, %r10
	addq	%rbx, %r11
	addq	$8, %rbx
	addq	$2, %r14
	leaq	(%rax,%r13), %r12
	cmpq	-8(%rsp), %r15
	jne	.LBB3_5
	addq	%r13, %rax
	testb	$1, -16(%rsp)
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	je	.LBB3_14
.LBB3_11:
	leaq	1(%rdi), %rsi
	movq	%rdi, %rdx
	imulq	%rsi, %rdx
	movq	%rdi, %rcx
.LBB3_12:
	movq	%rax, %r8
	shlq	$5, %r8
	subq	%rax, %r8
	movq	%rcx, %rax
	imulq	%rdi, %rax
	addq	%r8, %rax
	decq	%rcx
	decq	%rsi
	subq	%rdi, %rdx
	cmpq	$1, %rsi
	ja	.LBB3_12
	addq	%rdx, %r8
	movq	%r8, %rax
.LBB3_14:
	retq
.Lfunc_end3:

_ZN6native9factorial17hb1d4ac23e9d81042E:
	movl	$1, %eax
	cmpq	$2, %rdi
	jl	.LBB4_7
	leaq	-1(%rdi), %rdx
	leaq	-2(%rdi), %rsi
	movl	%edx, %ecx
	andl	$7, %ecx
	cmpq	$7, %rsi
	jb	.LBB4_6
	andq	$-8, %rdx
	negq	%rdx
	xorl	%esi, %esi
.LBB4_3:
	leaq	(%rdi,%rsi), %r8
	imulq	%rax, %r8
	leaq	(%rdi,%rsi), %rax
	decq	%rax
	leaq	(%rdi,%rsi), %r9
	addq	$-2, %r9
	imulq	%rax, %r9
	imulq	%r8, %r9
	leaq	(%rdi,%rsi), %rax
	addq	$-3, %rax
	leaq	(%rdi,%rsi), %r8
	addq	$-4, %r8
	imulq	%rax, %r8
	leaq	(%rdi,%rsi), %r10
	addq	$-5, %r10
	imulq	%r8, %r10
	imulq	%r9, %r10
	leaq	(%rdi,%rsi), %r8
	addq	$-6, %r8
	leaq	(%rdi,%rsi), %rax
	addq	$-7, %rax
	imulq	%r8, %rax
	imulq	%r10, %rax
	addq	$-8, %rsi
	cmpq	%rsi, %rdx
	jne	.LBB4_3
	testq	%rcx, %rcx
	je	.LBB4_7
	addq	%rsi, %rdi
.LBB4_6:
	imulq	%rdi, %rax
	decq	%rdi
	decq	%rcx
	jne	.LBB4_6
.LBB4_7:
	retq
.Lfunc_end4:

_ZN6native9fibonacci17hfa369f86a73452e3E:
	testq	%rdi, %rdi
	jle	.LBB5_1
	movl	%edi, %ecx
	andl	$7, %ecx
	cmpq	$8, %rdi
	jae	.LBB5_8
	movl	$1, %edx
	xorl	%eax, %eax
	jmp	.LBB5_5
.LBB5_1:
	xorl	%eax, %eax
	retq
.LBB5_8:
	movabsq	$9223372036854775800, %rax
	andq	%rax, %rdi
	movl	$1, %edx
	xorl	%eax, %eax
.LBB5_9:
	addq	%rdx, %rax
	addq	%rax, %rdx
	addq	%rdx, %rax
	addq	%rax, %rdx
	addq	%rdx, %rax
	addq	%rax, %rdx
	addq	%rdx, %rax
	addq	%rax, %rdx
	addq	$-8, %rdi
	jne	.LBB5_9
	testq	%rcx, %rcx
	je	.LBB5_7
.LBB5_5:
	movq	%rax, %rsi
.LBB5_6:
	movq	%rdx, %rax
	movq	%rsi, %rdx
	addq	%rax, %rdx
	movq	%rax, %rsi
	decq	%rcx
	jne	.LBB5_6
.LBB5_7:
	retq
.Lfunc_end5:

.Lanon.da4f248ab327711df0c18228333b658a.0:
	.asciz	"tests/examples/bench/native.rs"

.Lanon.da4f248ab327711df0c18228333b658a.1:
	.quad	.Lanon.da4f248ab327711df0c18228333b658a.0
	.asciz	"\036\000\000\000\000\000\000\000$\000\000\000\020\000\000"

