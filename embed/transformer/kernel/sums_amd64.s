#include "textflag.h"

// Operands are in the order of Go's assembler: sources first, destination last.
// Every function ends with VZEROUPPER: SSE code after wide registers that are
// not cleared runs at a fraction of its speed.

// FOUR adds four numbers of a row times those of 48 columns.
#define FOUR(at, number, a, b, c) \
	VPBROADCASTD at, number;      \
	VPDPBUSD     Z24, number, a;  \
	VPDPBUSD     Z25, number, b;  \
	VPDPBUSD     Z26, number, c

// TWO does so for two rows that begin R8 apart.
#define TWO(at, a, b, c, d, e, f) \
	FOUR((at), Z27, a, b, c);     \
	FOUR((at)(R8*1), Z28, d, e, f)

#define CLEAR(a, b, c) \
	VPXORD a, a, a;    \
	VPXORD b, b, b;    \
	VPXORD c, c, c

#define STORE(at, a, b, c)   \
	VMOVDQU32 a, at(DI);     \
	VMOVDQU32 b, at+64(DI);  \
	VMOVDQU32 c, at+128(DI)

// func sumsVNNI(sums *int32, rows *uint8, panel *byte, depth int)
//
// Z0 to Z23 sum eight rows of 48 columns. Meanwhile the next panel is fetched: the
// weights of a query are read once, and other work has driven them from the caches.
TEXT ·sumsVNNI(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ panel+16(FP), BX
	MOVQ depth+24(FP), R8
	MOVQ R8, AX
	LEAQ (SI)(R8*2), R10
	LEAQ (SI)(R8*4), R11
	LEAQ (R10)(R8*4), R12
	LEAQ (R8)(R8*2), R13
	SHLQ $4, R13 // bytes of a panel
	CLEAR(Z0, Z1, Z2)
	CLEAR(Z3, Z4, Z5)
	CLEAR(Z6, Z7, Z8)
	CLEAR(Z9, Z10, Z11)
	CLEAR(Z12, Z13, Z14)
	CLEAR(Z15, Z16, Z17)
	CLEAR(Z18, Z19, Z20)
	CLEAR(Z21, Z22, Z23)

step512:
	PREFETCHT1 (BX)(R13*1)
	PREFETCHT1 64(BX)(R13*1)
	PREFETCHT1 128(BX)(R13*1)
	VMOVDQU32 (BX), Z24
	VMOVDQU32 64(BX), Z25
	VMOVDQU32 128(BX), Z26
	TWO(SI, Z0, Z1, Z2, Z3, Z4, Z5)
	TWO(R10, Z6, Z7, Z8, Z9, Z10, Z11)
	TWO(R11, Z12, Z13, Z14, Z15, Z16, Z17)
	TWO(R12, Z18, Z19, Z20, Z21, Z22, Z23)
	ADDQ $192, BX
	ADDQ $4, SI
	ADDQ $4, R10
	ADDQ $4, R11
	ADDQ $4, R12
	SUBQ $4, AX
	JNZ  step512

	STORE(0, Z0, Z1, Z2)
	STORE(192, Z3, Z4, Z5)
	STORE(384, Z6, Z7, Z8)
	STORE(576, Z9, Z10, Z11)
	STORE(768, Z12, Z13, Z14)
	STORE(960, Z15, Z16, Z17)
	STORE(1152, Z18, Z19, Z20)
	STORE(1344, Z21, Z22, Z23)
	VZEROUPPER
	RET

// PAIRS adds four numbers of a row times those of eight columns, in two sums for
// each column. Words hold them: sums of products of bytes would be cut.
#define PAIRS(at, a, b)       \
	VPBROADCASTD at, X10;     \
	VPMOVZXBW    X10, Y10;    \
	VPMADDWD     Y8, Y10, Y11; \
	VPMADDWD     Y9, Y10, Y12; \
	VPADDD       Y11, a, a;   \
	VPADDD       Y12, b, b

// EIGHT stores a row of eight columns.
#define EIGHT(a, b, at)  \
	VPHADDD b, a, a;     \
	VPERMQ  $0xd8, a, a; \
	VMOVDQU a, at

// func sumsAVX2(sums *int32, rows *uint8, panel *byte, depth int)
//
// Y0 to Y7 sum four rows of eight columns.
TEXT ·sumsAVX2(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ depth+24(FP), R8
	MOVQ $2, CX

rows256:
	MOVQ panel+16(FP), DX
	MOVQ $6, R13

columns256:
	LEAQ (SI)(R8*2), R10
	MOVQ DX, BX
	MOVQ R8, AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

step256:
	VPMOVSXBW (BX), Y8
	VPMOVSXBW 16(BX), Y9
	PAIRS((SI), Y0, Y1)
	PAIRS((SI)(R8*1), Y2, Y3)
	PAIRS((R10), Y4, Y5)
	PAIRS((R10)(R8*1), Y6, Y7)
	ADDQ $192, BX
	ADDQ $4, SI
	ADDQ $4, R10
	SUBQ $4, AX
	JNZ  step256

	EIGHT(Y0, Y1, (DI))
	EIGHT(Y2, Y3, 192(DI))
	EIGHT(Y4, Y5, 384(DI))
	EIGHT(Y6, Y7, 576(DI))
	SUBQ R8, SI
	ADDQ $32, DX
	ADDQ $32, DI
	DECQ R13
	JNZ  columns256

	ADDQ $576, DI // three rows: one has been stored
	LEAQ (SI)(R8*4), SI
	DECQ CX
	JNZ  rows256
	VZEROUPPER
	RET
