/* Entries in front of MPI's Fortran functions: mpi_send_ and mpi_send_f08_ for every row of calls.def. Each notes where
 * it was called from in fortran_caller and goes on to the function behind it, all arguments untouched; the wrapper of
 * the C call that this function makes takes the note as its call site. */
#define UNPACK(...)
#define CALL(name, lower, params, args) fortran_entry mpi_##lower##_; fortran_entry mpi_##lower##_f08_;

#if defined(__x86_64__)

.macro fortran_entry name
    .pushsection .rodata
.L\name\()_text:
    .asciz "\name"
    .popsection
    .pushsection .data
    .balign 8
.L\name\()_place:                       /* struct fortran_place */
    .quad 0
    .quad .L\name\()_text
    .popsection
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    movq (%rsp), %rax
    movq fortran_caller@gottpoff(%rip), %r11
    movq %rax, %fs:(%r11)
    movq .L\name\()_place(%rip), %rax
    testq %rax, %rax
    jz 1f
    jmp *%rax
1:  leaq .L\name\()_place(%rip), %rax
    jmp find_and_go
    .cfi_endproc
    .size \name, . - \name
.endm

    .hidden fortran_caller
    .hidden fortran_find
    .text
    .type find_and_go, @function
find_and_go:
    .cfi_startproc
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $8, %rsp
    .cfi_def_cfa_offset 64
    movq %rax, %rdi
    call fortran_find
    addq $8, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    .cfi_def_cfa_offset 8
    testq %rax, %rax
    jz 1f
    jmp *%rax
1:  ret
    .cfi_endproc
    .size find_and_go, . - find_and_go

#include "collectives/mpi/calls.def"

#elif defined(__aarch64__)

.macro fortran_entry name
    .pushsection .rodata
.L\name\()_text:
    .asciz "\name"
    .popsection
    .pushsection .data
    .balign 8
.L\name\()_place:                       /* struct fortran_place */
    .quad 0
    .quad .L\name\()_text
    .popsection
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint #34                            /* bti c */
    adrp x16, :gottprel:fortran_caller
    ldr x16, [x16, :gottprel_lo12:fortran_caller]
    mrs x17, tpidr_el0
    str x30, [x17, x16]
    adrp x17, .L\name\()_place
    add x17, x17, :lo12:.L\name\()_place
    ldr x16, [x17]
    cbz x16, 1f
    br x16
1:  b find_and_go
    .cfi_endproc
    .size \name, . - \name
.endm

    .hidden fortran_caller
    .hidden fortran_find
    .text
    .type find_and_go, %function
find_and_go:
    .cfi_startproc
    stp x29, x30, [sp, #-80]!
    .cfi_def_cfa_offset 80
    .cfi_offset 29, -80
    .cfi_offset 30, -72
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    mov x0, x17
    bl fortran_find
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x29, x30, [sp], #80
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    cbz x16, 1f
    br x16
1:  ret
    .cfi_endproc
    .size find_and_go, . - find_and_go

#include "collectives/mpi/calls.def"

#endif

    .section .note.GNU-stack, "", %progbits
