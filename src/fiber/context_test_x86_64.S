// clump_test_switch(from, to, in, out): clump_switch_context with all registers that it must keep loaded from
// `in`, and stored into `out` when it returns. See context_test.cc.
        .text
        .globl  clump_test_switch
        .type   clump_test_switch, @function
clump_test_switch:
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   %rcx
        movq    0(%rdx), %rbp
        movq    8(%rdx), %rbx
        movq    16(%rdx), %r12
        movq    24(%rdx), %r13
        movq    32(%rdx), %r14
        movq    40(%rdx), %r15
        call    clump_switch_context
        popq    %rcx
        movq    %rbp, 0(%rcx)
        movq    %rbx, 8(%rcx)
        movq    %r12, 16(%rcx)
        movq    %r13, 24(%rcx)
        movq    %r14, 32(%rcx)
        movq    %r15, 40(%rcx)
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   clump_test_switch, . - clump_test_switch
        .section .note.GNU-stack, "", @progbits
