// Doors for aarch64: see doors.cc. 320 of them, 16 bytes each. A function's arguments may be in x0 to x8 and q0 to q7; x16
// and x17 are free for what stands between a call and its function.
        .text

        .globl  clump_doors
        .hidden clump_doors
        .type   clump_doors, %function
        .p2align 4
clump_doors:
        .cfi_startproc
        .set    number, 0
        .rept   320
        .p2align 4
        hint    #34                     // bti c
        mov     w16, #number
        b       go_on
        .set    number, number + 1
        .endr
        .cfi_endproc
        .size   clump_doors, .-clump_doors

        .type   go_on, %function
        .p2align 4
go_on:
        .cfi_startproc
        stp     x29, x30, [sp, #-224]!
        .cfi_adjust_cfa_offset 224
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        stp     x2, x3, [sp, #32]
        stp     x4, x5, [sp, #48]
        stp     x6, x7, [sp, #64]
        str     x8, [sp, #80]
        stp     q0, q1, [sp, #96]
        stp     q2, q3, [sp, #128]
        stp     q4, q5, [sp, #160]
        stp     q6, q7, [sp, #192]
        mov     w0, w16
        bl      clump_behind_door
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x3, [sp, #32]
        ldp     x4, x5, [sp, #48]
        ldp     x6, x7, [sp, #64]
        ldr     x8, [sp, #80]
        ldp     q0, q1, [sp, #96]
        ldp     q2, q3, [sp, #128]
        ldp     q4, q5, [sp, #160]
        ldp     q6, q7, [sp, #192]
        ldp     x29, x30, [sp], #224
        .cfi_adjust_cfa_offset -224
        .cfi_restore x29
        .cfi_restore x30
        br      x16
        .cfi_endproc
        .size   go_on, .-go_on

        .section .note.GNU-stack,"",%progbits
