#include "textflag.h"

// VFMADD213PS a, b, c makes c of b·c + a, VFMADD231PS adds a·b to c.

// WORTH makes floats of eight sums, for which Y14 has the scale of the row and Y15 its zero.
#define WORTH(at, y, t)              \
	VPMULLD     at(DX), Y15, t;      \
	VMOVDQU     at(SI), y;           \
	VPSUBD      t, y, y;             \
	VCVTDQ2PS   y, y;                \
	VMULPS      at(R8), Y14, t;      \
	VFMADD213PS at(R9), t, y;        \
	VMOVUPS     y, at(DI)

// func floatsAVX2(out *float32, stride int, sums, columns *int32, scales, bias, of *float32, zeros *int32)
TEXT ·floatsAVX2(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), DI
	MOVQ stride+8(FP), R10
	MOVQ sums+16(FP), SI
	MOVQ columns+24(FP), DX
	MOVQ scales+32(FP), R8
	MOVQ bias+40(FP), R9
	MOVQ of+48(FP), R11
	MOVQ zeros+56(FP), R12
	MOVQ $8, CX

floats:
	VBROADCASTSS (R11), Y14
	VPBROADCASTD (R12), Y15
	WORTH(0, Y0, Y1)
	WORTH(32, Y2, Y3)
	WORTH(64, Y4, Y5)
	WORTH(96, Y6, Y7)
	WORTH(128, Y8, Y9)
	WORTH(160, Y10, Y11)
	ADDQ $192, SI
	ADDQ $4, R11
	ADDQ $4, R12
	LEAQ (DI)(R10*4), DI
	DECQ CX
	JNZ  floats
	VZEROUPPER
	RET

// ACROSS makes of each lane of Y0 what op makes of all lanes.
#define ACROSS(op) \
	VPERM2F128 $1, Y0, Y0, Y1; \
	op         Y1, Y0, Y0;     \
	VPERMILPS  $0x4e, Y0, Y1;  \
	op         Y1, Y0, Y0;     \
	VPERMILPS  $0xb1, Y0, Y1;  \
	op         Y1, Y0, Y0

// func rangeAVX2(x *float32, n int) (lo, hi float32)
TEXT ·rangeAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VMOVUPS (SI), Y2
	VMOVUPS Y2, Y3
	VMOVUPS Y2, Y4
	VMOVUPS Y2, Y5
	XORQ AX, AX

range:
	VMOVUPS (SI)(AX*4), Y0
	VMOVUPS 32(SI)(AX*4), Y1
	VMINPS  Y0, Y2, Y2
	VMINPS  Y1, Y3, Y3
	VMAXPS  Y0, Y4, Y4
	VMAXPS  Y1, Y5, Y5
	ADDQ    $16, AX
	CMPQ    AX, CX
	JLT     range

	VMINPS Y2, Y3, Y0
	ACROSS(VMINPS)
	VMOVSS X0, lo+16(FP)
	VMAXPS Y4, Y5, Y0
	ACROSS(VMAXPS)
	VMOVSS X0, hi+20(FP)
	VZEROUPPER
	RET

// what a pack of four registers leaves in place of each quarter
DATA inOrder<>+0(SB)/8, $0x0000000400000000
DATA inOrder<>+8(SB)/8, $0x0000000500000001
DATA inOrder<>+16(SB)/8, $0x0000000600000002
DATA inOrder<>+24(SB)/8, $0x0000000700000003
GLOBL inOrder<>(SB), RODATA|NOPTR, $32

#define NUMBER(at, y)     \
	VMULPS    at, Y14, y; \
	VCVTPS2DQ y, y;       \
	VPADDD    Y15, y, y

// func quantiseAVX2(values *uint8, x *float32, n int, inverse float32, zero int32)
TEXT ·quantiseAVX2(SB), NOSPLIT, $0-32
	MOVQ values+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS inverse+24(FP), Y14
	MOVL zero+28(FP), AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	VMOVDQU inOrder<>(SB), Y13

quantise:
	NUMBER((SI), Y0)
	NUMBER(32(SI), Y1)
	NUMBER(64(SI), Y2)
	NUMBER(96(SI), Y3)
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKUSWB Y2, Y0, Y0
	VPERMD    Y0, Y13, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $128, SI
	ADDQ      $32, DI
	SUBQ      $32, CX
	JNZ       quantise
	VZEROUPPER
	RET

// func geluAVX2(x *float32, n int, constants *eight)
TEXT ·geluAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ constants+16(FP), DX
	VMOVUPS (DX), Y10
	VMOVUPS 32(DX), Y11
	VMOVUPS 64(DX), Y12
	VMOVUPS 480(DX), Y13

gelu:
	VMOVUPS     (SI), Y0
	VMULPS      Y10, Y0, Y1
	VMINPS      Y11, Y1, Y1
	VMAXPS      Y12, Y1, Y1
	VMULPS      Y1, Y1, Y2
	VMOVUPS     96(DX), Y3
	VFMADD213PS 128(DX), Y2, Y3
	VFMADD213PS 160(DX), Y2, Y3
	VFMADD213PS 192(DX), Y2, Y3
	VFMADD213PS 224(DX), Y2, Y3
	VFMADD213PS 256(DX), Y2, Y3
	VFMADD213PS 288(DX), Y2, Y3
	VMOVUPS     320(DX), Y4
	VFMADD213PS 352(DX), Y2, Y4
	VFMADD213PS 384(DX), Y2, Y4
	VFMADD213PS 416(DX), Y2, Y4
	VFMADD213PS 448(DX), Y2, Y4
	VMULPS      Y1, Y3, Y3
	VDIVPS      Y4, Y3, Y3
	VMULPS      Y13, Y0, Y0
	VFMADD213PS Y0, Y0, Y3
	VMOVUPS     Y3, (SI)
	ADDQ        $32, SI
	SUBQ        $8, CX
	JNZ         gelu
	VZEROUPPER
	RET

// func softmaxAVX2(x *float32, n int, constants *eight)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ constants+16(FP), DX
	VMOVUPS (SI), Y0
	VMOVUPS Y0, Y2
	XORQ AX, AX

greatest:
	VMAXPS (SI)(AX*4), Y0, Y0
	VMAXPS 32(SI)(AX*4), Y2, Y2
	ADDQ   $16, AX
	CMPQ   AX, CX
	JLT    greatest

	VMAXPS Y2, Y0, Y0
	ACROSS(VMAXPS)
	VMOVUPS Y0, Y15
	VMOVUPS (DX), Y14
	VMOVUPS 32(DX), Y13
	VMOVUPS 64(DX), Y12
	VMOVUPS 96(DX), Y11
	VMOVUPS 128(DX), Y10
	VMOVUPS 160(DX), Y9
	VMOVUPS 192(DX), Y8
	VMOVUPS 224(DX), Y7
	VXORPS  Y0, Y0, Y0
	XORQ    AX, AX

power:
	VMOVUPS     (SI)(AX*4), Y1
	VSUBPS      Y15, Y1, Y1
	VMAXPS      Y14, Y1, Y1
	VROUNDPS    $0, Y1, Y2
	VSUBPS      Y2, Y1, Y1
	VMOVUPS     Y13, Y3
	VFMADD213PS Y12, Y1, Y3
	VFMADD213PS Y11, Y1, Y3
	VFMADD213PS Y10, Y1, Y3
	VFMADD213PS Y9, Y1, Y3
	VFMADD213PS Y8, Y1, Y3
	VFMADD213PS Y7, Y1, Y3
	VCVTPS2DQ   Y2, Y2
	VPSLLD      $23, Y2, Y2
	VPADDD      Y2, Y3, Y3
	VMOVUPS     Y3, (SI)(AX*4)
	VADDPS      Y3, Y0, Y0
	ADDQ        $8, AX
	CMPQ        AX, CX
	JLT         power

	ACROSS(VADDPS)
	VDIVPS Y0, Y7, Y0 // the last coefficient is 1
	XORQ   AX, AX

share:
	VMULPS  (SI)(AX*4), Y0, Y1
	VMULPS  32(SI)(AX*4), Y0, Y2
	VMOVUPS Y1, (SI)(AX*4)
	VMOVUPS Y2, 32(SI)(AX*4)
	ADDQ    $16, AX
	CMPQ    AX, CX
	JLT     share
	VZEROUPPER
	RET

// func normaliseAVX2(x, y, gain, bias *float32, n int, epsilon float32)
TEXT ·normaliseAVX2(SB), NOSPLIT, $0-44
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ gain+16(FP), R8
	MOVQ bias+24(FP), R9
	MOVQ n+32(FP), CX
	VCVTSI2SSQ CX, X15, X15
	VBROADCASTSS X15, Y15
	VXORPS Y0, Y0, Y0
	XORQ   AX, AX

sum:
	VMOVUPS (SI)(AX*4), Y1
	VADDPS  (DI)(AX*4), Y1, Y1
	VMOVUPS Y1, (SI)(AX*4)
	VADDPS  Y1, Y0, Y0
	ADDQ    $8, AX
	CMPQ    AX, CX
	JLT     sum

	ACROSS(VADDPS)
	VDIVPS Y15, Y0, Y14 // mean
	VXORPS Y0, Y0, Y0
	XORQ   AX, AX

squares:
	VMOVUPS     (SI)(AX*4), Y1
	VSUBPS      Y14, Y1, Y1
	VMOVUPS     Y1, (SI)(AX*4)
	VFMADD231PS Y1, Y1, Y0
	ADDQ        $8, AX
	CMPQ        AX, CX
	JLT         squares

	ACROSS(VADDPS)
	VDIVPS       Y15, Y0, Y0
	VBROADCASTSS epsilon+40(FP), Y1
	VADDPS       Y1, Y0, Y0
	VSQRTPS      Y0, Y14
	XORQ         AX, AX

normalise:
	VMOVUPS     (SI)(AX*4), Y1
	VDIVPS      Y14, Y1, Y1
	VMOVUPS     (R8)(AX*4), Y2
	VFMADD213PS (R9)(AX*4), Y2, Y1
	VMOVUPS     Y1, (SI)(AX*4)
	ADDQ        $8, AX
	CMPQ        AX, CX
	JLT         normalise
	VZEROUPPER
	RET

#define ROW(at, y, a, b)    \
	VBROADCASTSS at, y;     \
	VFMADD231PS  Y8, y, a;  \
	VFMADD231PS  Y9, y, b

// func multiplyAVX2(c, a, b *float32, cStride, aStride, bStride, depth, columns int)
//
// Y0 to Y7 sum four rows of sixteen columns.
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-64
	MOVQ c+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ cStride+24(FP), R8
	MOVQ aStride+32(FP), R9
	MOVQ bStride+40(FP), R10
	MOVQ columns+56(FP), CX
	SHLQ $2, R8
	SHLQ $2, R10
	LEAQ (SI)(R9*4), R11
	LEAQ (SI)(R9*8), R12
	LEAQ (R11)(R9*8), R13
	MOVQ depth+48(FP), R9

columns:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ   DX, BX
	XORQ   AX, AX

depth:
	VMOVUPS (BX), Y8
	VMOVUPS 32(BX), Y9
	ROW((SI)(AX*4), Y10, Y0, Y1)
	ROW((R11)(AX*4), Y11, Y2, Y3)
	ROW((R12)(AX*4), Y12, Y4, Y5)
	ROW((R13)(AX*4), Y13, Y6, Y7)
	ADDQ R10, BX
	INCQ AX
	CMPQ AX, R9
	JLT  depth

	LEAQ    (DI)(R8*2), BX
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (DI)(R8*1)
	VMOVUPS Y3, 32(DI)(R8*1)
	VMOVUPS Y4, (BX)
	VMOVUPS Y5, 32(BX)
	VMOVUPS Y6, (BX)(R8*1)
	VMOVUPS Y7, 32(BX)(R8*1)
	ADDQ    $64, DI
	ADDQ    $64, DX
	SUBQ    $16, CX
	JNZ     columns
	VZEROUPPER
	RET
