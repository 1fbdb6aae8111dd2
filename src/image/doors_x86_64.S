// Doors for x86-64: see doors.cc. 320 of them, 16 bytes each. A function's arguments may be in rdi, rsi, rdx, rcx, r8, r9
// and xmm0 to xmm7; rax holds the number of the latter for functions like open(), r10 what a nested function needs.
        .text

        .globl  clump_doors
        .hidden clump_doors
        .type   clump_doors, @function
        .p2align 4
clump_doors:
        .cfi_startproc
        .set    number, 0
        .rept   320
        .p2align 4
        endbr64
        movl    $number, %r11d
        jmp     go_on
        .set    number, number + 1
        .endr
        .cfi_endproc
        .size   clump_doors, .-clump_doors

        .type   go_on, @function
        .p2align 4
go_on:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        andq    $-16, %rsp
        subq    $192, %rsp
        movq    %rdi, (%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movq    %rax, 48(%rsp)
        movq    %r10, 56(%rsp)
        movaps  %xmm0, 64(%rsp)
        movaps  %xmm1, 80(%rsp)
        movaps  %xmm2, 96(%rsp)
        movaps  %xmm3, 112(%rsp)
        movaps  %xmm4, 128(%rsp)
        movaps  %xmm5, 144(%rsp)
        movaps  %xmm6, 160(%rsp)
        movaps  %xmm7, 176(%rsp)
        movl    %r11d, %edi
        call    clump_behind_door
        movq    %rax, %r11
        movq    (%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    24(%rsp), %rcx
        movq    32(%rsp), %r8
        movq    40(%rsp), %r9
        movq    48(%rsp), %rax
        movq    56(%rsp), %r10
        movaps  64(%rsp), %xmm0
        movaps  80(%rsp), %xmm1
        movaps  96(%rsp), %xmm2
        movaps  112(%rsp), %xmm3
        movaps  128(%rsp), %xmm4
        movaps  144(%rsp), %xmm5
        movaps  160(%rsp), %xmm6
        movaps  176(%rsp), %xmm7
        leave
        .cfi_def_cfa %rsp, 8
        jmp     *%r11
        .cfi_endproc
        .size   go_on, .-go_on

        .section .note.GNU-stack,"",@progbits
