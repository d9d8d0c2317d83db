#include "textflag.h"

// Operands are in the order of Go's assembler: sources first, destination last.
// Every function ends with VZEROUPPER: SSE code after wide registers that are
// not cleared runs at a fraction of its speed.

// bits set in a nibble, for each half of a register
DATA nibbleBits<>+0(SB)/8, $0x0302020102010100
DATA nibbleBits<>+8(SB)/8, $0x0403030203020201
DATA nibbleBits<>+16(SB)/8, $0x0302020102010100
DATA nibbleBits<>+24(SB)/8, $0x0403030203020201
GLOBL nibbleBits<>(SB), RODATA|NOPTR, $32

DATA lowNibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowNibbles<>(SB), RODATA|NOPTR, $8

// func codesAVX512(estimates *int32, codes, planes *uint64, words, groups int, least int32) uint64
//
// Z0 to Z3 sum the bits under each plane, Z4 all bits, in a lane for each row.
TEXT ·codesAVX512(SB), NOSPLIT, $0-56
	MOVQ estimates+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ planes+16(FP), DX
	MOVQ words+24(FP), R8
	MOVQ groups+32(FP), CX
	MOVL least+40(FP), BX
	VMOVD BX, X15
	VPBROADCASTD X15, Y15
	MOVQ CX, R11
	XORQ AX, AX

group512:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	MOVQ   DX, R10
	MOVQ   R8, R9

word512:
	VMOVDQU64   (SI), Z5
	VPANDQ.BCST (R10), Z5, Z6
	VPANDQ.BCST 8(R10), Z5, Z7
	VPANDQ.BCST 16(R10), Z5, Z8
	VPANDQ.BCST 24(R10), Z5, Z9
	VPOPCNTQ    Z5, Z5
	VPOPCNTQ    Z6, Z6
	VPOPCNTQ    Z7, Z7
	VPOPCNTQ    Z8, Z8
	VPOPCNTQ    Z9, Z9
	VPADDQ      Z5, Z4, Z4
	VPADDQ      Z6, Z0, Z0
	VPADDQ      Z7, Z1, Z1
	VPADDQ      Z8, Z2, Z2
	VPADDQ      Z9, Z3, Z3
	ADDQ        $64, SI
	ADDQ        $32, R10
	DECQ        R9
	JNZ         word512

	// 2·(Z0 + 2·(Z1 + 2·(Z2 + 2·Z3))) − (16·Z4 − Z4)
	VPADDQ  Z3, Z3, Z3
	VPADDQ  Z3, Z2, Z2
	VPADDQ  Z2, Z2, Z2
	VPADDQ  Z2, Z1, Z1
	VPADDQ  Z1, Z1, Z1
	VPADDQ  Z1, Z0, Z0
	VPADDQ  Z0, Z0, Z0
	VPADDQ  Z4, Z0, Z0
	VPSLLQ  $4, Z4, Z4
	VPSUBQ  Z4, Z0, Z0
	VPMOVQD Z0, Y0
	VMOVDQU Y0, (DI)

	// The bits of a group enter at the low end and are rotated to the high one.
	VPCMPD $5, Y15, Y0, K1 // not less
	KMOVW  K1, BX
	ORQ    BX, AX
	RORQ   $8, AX
	ADDQ   $32, DI
	DECQ   CX
	JNZ    group512

	MOVQ R11, CX
	SHLQ $3, CX
	ROLQ CX, AX
	MOVQ AX, ret+48(FP)
	VZEROUPPER
	RET

// PLANE adds the bits of code and plane, times 2ⁿ, to the bytes of sum.
#define PLANE(offset, code, sum, shifted) \
	VPBROADCASTQ offset(R10), Y8; \
	VPAND        code, Y8, Y8;    \
	VPAND        Y14, Y8, Y9;     \
	VPSRLW       $4, Y8, Y8;      \
	VPAND        Y14, Y8, Y8;     \
	VPSHUFB      Y9, Y13, Y9;     \
	VPSHUFB      Y8, Y13, Y8;     \
	VPADDB       sum, sum, shifted; \
	VPADDB       Y9, Y8, Y8;      \
	VPADDB       Y8, shifted, sum

// HALF adds a word of four rows: the weighted bits to the lanes of sum, all
// bits to those of ones. Its bytes hold at most 8·15.
#define HALF(offset, sum, ones) \
	VMOVDQU offset(SI), Y6;  \
	VPXOR   Y7, Y7, Y7;      \
	PLANE(24, Y6, Y7, Y7);   \
	PLANE(16, Y6, Y7, Y7);   \
	PLANE(8, Y6, Y7, Y7);    \
	PLANE(0, Y6, Y7, Y7);    \
	VPSADBW Y12, Y7, Y7;     \
	VPADDQ  Y7, sum, sum;    \
	VPAND   Y14, Y6, Y9;     \
	VPSRLW  $4, Y6, Y8;      \
	VPAND   Y14, Y8, Y8;     \
	VPSHUFB Y9, Y13, Y9;     \
	VPSHUFB Y8, Y13, Y8;     \
	VPADDB  Y9, Y8, Y8;      \
	VPSADBW Y12, Y8, Y8;     \
	VPADDQ  Y8, ones, ones

// ESTIMATE makes 2·sum − 15·ones of sum.
#define ESTIMATE(sum, ones) \
	VPADDQ sum, sum, sum;   \
	VPADDQ ones, sum, sum;  \
	VPSLLQ $4, ones, ones;  \
	VPSUBQ ones, sum, sum

// func codesAVX2(estimates *int32, codes, planes *uint64, words, groups int, least int32) uint64
TEXT ·codesAVX2(SB), NOSPLIT, $0-56
	MOVQ estimates+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ planes+16(FP), DX
	MOVQ words+24(FP), R8
	MOVQ groups+32(FP), CX
	MOVL least+40(FP), BX
	VMOVD BX, X15
	VPBROADCASTD X15, Y15
	VPBROADCASTQ lowNibbles<>(SB), Y14
	VMOVDQU nibbleBits<>(SB), Y13
	VPXOR Y12, Y12, Y12
	MOVQ CX, R11
	XORQ AX, AX

group256:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  DX, R10
	MOVQ  R8, R9

word256:
	HALF(0, Y0, Y1)
	HALF(32, Y2, Y3)
	ADDQ $64, SI
	ADDQ $32, R10
	DECQ R9
	JNZ  word256

	ESTIMATE(Y0, Y1)
	ESTIMATE(Y2, Y3)

	// the low halves of the lanes, in order
	VSHUFPS  $0x88, Y2, Y0, Y0
	VPERMQ   $0xd8, Y0, Y0
	VMOVDQU  Y0, (DI)
	VPCMPGTD Y0, Y15, Y1 // least is greater
	VMOVMSKPS Y1, BX
	XORQ     $0xff, BX
	ORQ      BX, AX
	RORQ     $8, AX
	ADDQ     $32, DI
	DECQ     CX
	JNZ      group256

	MOVQ R11, CX
	SHLQ $3, CX
	ROLQ CX, AX
	MOVQ AX, ret+48(FP)
	VZEROUPPER
	RET

// ahead is how many rows before its turn a row is fetched. Rows that are picked
// are scattered in memory, and waiting for each would take longer than the
// products.
#define ahead 8

// func productsAVX2(products *int32, query, rows *int16, at *uint32, n, strides int)
TEXT ·productsAVX2(SB), NOSPLIT, $0-48
	MOVQ products+0(FP), DI
	MOVQ query+8(FP), DX
	MOVQ rows+16(FP), SI
	MOVQ at+24(FP), BX
	MOVQ n+32(FP), CX
	MOVQ strides+40(FP), R8
	MOVQ R8, AX
	SHLQ $6, AX // bytes of a row

row256:
	MOVL  (BX), R11
	IMULQ AX, R11
	ADDQ  SI, R11  // the row
	MOVQ  R11, R13 // and the one to fetch, if there are enough
	CMPQ  CX, $ahead
	JLE   begin256
	MOVL  4*ahead(BX), R13
	IMULQ AX, R13
	ADDQ  SI, R13

begin256:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  DX, R10
	MOVQ  R8, R9

stride256:
	VMOVDQU    (R11), Y2
	VMOVDQU    32(R11), Y3
	VPMADDWD   (R10), Y2, Y2
	VPMADDWD   32(R10), Y3, Y3
	PREFETCHT0 (R13)
	VPADDD     Y2, Y0, Y0
	VPADDD     Y3, Y1, Y1
	ADDQ       $64, R11
	ADDQ       $64, R10
	ADDQ       $64, R13
	DECQ       R9
	JNZ        stride256

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DI)
	ADDQ $4, BX
	ADDQ $4, DI
	DECQ CX
	JNZ  row256
	VZEROUPPER
	RET
