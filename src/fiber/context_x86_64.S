// clump_switch_context and clump_leave_kernel_thread for x86-64: see context.h. A suspended stack holds, from
// its top down: return address, rbp, rbx, r12 to r15, MXCSR (4 bytes), the x87 control word (2 bytes) and the x87
// exception flags (2 bytes; 0 if they are not kept: float_flags.h). Those of SSE are in MXCSR.
#include <asm/prctl.h>
#include <asm/unistd.h>

        .text

        .macro save_registers
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movw    $0, 6(%rsp)
        cmpb    $0, clump_keeps_float_flags(%rip)
        je      .Lno_flags\@
        fnstsw  %ax
        andl    $0x7f, %eax
        movw    %ax, 6(%rsp)
.Lno_flags\@:
        .endm

        .globl  clump_switch_context
        .hidden clump_switch_context
        .type   clump_switch_context, @function
        .p2align 5
clump_switch_context:
        .cfi_startproc
        save_registers
        movq    %rsp, (%rdi)
        movl    (%rsp), %ecx
        movzwl  4(%rsp), %edx
        movq    8(%rsi), %rax
        cmpb    $0, clump_has_fsgsbase(%rip)
        je      .Lset_by_kernel
        wrfsbase %rax
        movq    (%rsi), %rsp
.Lon_new_stack:
        // Loading them is slow, and they seldom differ.
        cmpl    (%rsp), %ecx
        jne     .Lload_mxcsr
.Lhave_mxcsr:
        cmpw    4(%rsp), %dx
        jne     .Lload_control_word
.Lhave_control_word:
        cmpb    $0, clump_keeps_float_flags(%rip)
        jne     .Lcompare_flags
.Lhave_flags:
        movq    %rdi, %rax
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        popq    %r13
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 56
.Lload_mxcsr:
        ldmxcsr (%rsp)
        jmp     .Lhave_mxcsr
.Lload_control_word:
        fldcw   4(%rsp)
        jmp     .Lhave_control_word
.Lcompare_flags:
        fnstsw  %ax
        andl    $0x7f, %eax
        cmpw    6(%rsp), %ax
        je      .Lhave_flags
        cmpw    $0, 6(%rsp)
        jne     .Lload_environment
        fnclex
        jmp     .Lhave_flags
.Lload_environment:
        // Only a whole environment can be loaded: what is there, with these flags.
        movzwl  6(%rsp), %eax
        subq    $32, %rsp
        .cfi_adjust_cfa_offset 32
        fnstenv (%rsp)
        andw    $0x7f00, 4(%rsp)
        orw     %ax, 4(%rsp)
        fldenv  (%rsp)
        addq    $32, %rsp
        .cfi_adjust_cfa_offset -32
        jmp     .Lhave_flags
.Lset_by_kernel:
        // arch_prctl(ARCH_SET_FS, to->thread_pointer). The system call leaves all registers but rax, rcx, r11.
        movq    %rdi, %rbx
        movq    %rsi, %r12
        movl    %ecx, %r13d
        movq    %rax, %rsi
        movl    $ARCH_SET_FS, %edi
        movl    $__NR_arch_prctl, %eax
        movq    (%r12), %rsp
        syscall
        movq    %rbx, %rdi
        movl    %r13d, %ecx
        jmp     .Lon_new_stack
        .cfi_endproc
        .size   clump_switch_context, . - clump_switch_context

        .globl  clump_leave_kernel_thread
        .hidden clump_leave_kernel_thread
        .type   clump_leave_kernel_thread, @function
        .p2align 5
clump_leave_kernel_thread:
        .cfi_startproc
        save_registers
        movq    %rsp, (%rdi)
        // From here on this kernel thread uses no stack: signals are blocked, and a system call needs none.
        leaq    clump_parked_stack(%rip), %rsp
        movl    $0, (%rsi)
.Lsleep:
        leaq    always_zero(%rip), %rdi
        xorl    %esi, %esi              // FUTEX_WAIT
        orl     $128, %esi              // FUTEX_PRIVATE_FLAG
        xorl    %edx, %edx
        xorl    %r10d, %r10d
        movl    $__NR_futex, %eax
        syscall
        jmp     .Lsleep
        .cfi_endproc
        .size   clump_leave_kernel_thread, . - clump_leave_kernel_thread

        .local  always_zero
        .comm   always_zero, 4, 4
        .local  unused_stack
        .bss
        .p2align 6
unused_stack:
        .zero   256
        .globl  clump_parked_stack
        .hidden clump_parked_stack
clump_parked_stack:

        .globl  clump_has_fsgsbase
        .hidden clump_has_fsgsbase
        .data
clump_has_fsgsbase:
        .byte   0

        .section .note.GNU-stack, "", @progbits
