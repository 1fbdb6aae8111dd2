// clump_note_registers and clump_call_behind for x86-64: see world_stop.h.
        .text

        .globl  clump_note_registers
        .hidden clump_note_registers
        .type   clump_note_registers, @function
        .p2align 4
clump_note_registers:
        .cfi_startproc
        leaq    8(%rsp), %rax
        movq    %rax, (%rdi)
        movq    (%rsp), %rax
        movq    %rax, 8(%rdi)
        movq    %rbx, 16(%rdi)
        movq    %rbp, 24(%rdi)
        movq    %r12, 32(%rdi)
        movq    %r13, 40(%rdi)
        movq    %r14, 48(%rdi)
        movq    %r15, 56(%rdi)
        ret
        .cfi_endproc
        .size   clump_note_registers, . - clump_note_registers

        // The unwinder is told that all registers are where rbx points.
        .globl  clump_call_behind
        .type   clump_call_behind, @function
        .p2align 4
clump_call_behind:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movq    %rdi, %rbx
        movq    %rdx, %rdi
        .cfi_remember_state
        .cfi_escape 0x0f, 3, 0x73, 0, 0x06      // CFA: what lies at rbx + 0
        .cfi_escape 0x10, 16, 2, 0x73, 8        // return address: at rbx + 8
        .cfi_escape 0x10, 3, 2, 0x73, 16        // rbx
        .cfi_escape 0x10, 6, 2, 0x73, 24        // rbp
        .cfi_escape 0x10, 12, 2, 0x73, 32       // r12
        .cfi_escape 0x10, 13, 2, 0x73, 40
        .cfi_escape 0x10, 14, 2, 0x73, 48
        .cfi_escape 0x10, 15, 2, 0x73, 56
        call    *%rsi
        nop                                     // the return address still belongs to the call
        .cfi_restore_state
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        .cfi_endproc
        .size   clump_call_behind, . - clump_call_behind

        .section .note.GNU-stack, "", @progbits
