#include "textflag.h"

// WORD is an instruction that Go's assembler does not know, named beside it in
// the manual's order: destination first.

// PLANE adds the bits of the codes in V0 to V3 under the next plane to twice
// the bytes of V4 to V7.
#define PLANE(at) \
	VLD1R (at), [V24.D2];             \
	VAND  V24.B16, V0.B16, V25.B16;   \
	VAND  V24.B16, V1.B16, V26.B16;   \
	VAND  V24.B16, V2.B16, V27.B16;   \
	VAND  V24.B16, V3.B16, V28.B16;   \
	VCNT  V25.B16, V25.B16;           \
	VCNT  V26.B16, V26.B16;           \
	VCNT  V27.B16, V27.B16;           \
	VCNT  V28.B16, V28.B16;           \
	VADD  V4.B16, V4.B16, V4.B16;     \
	VADD  V5.B16, V5.B16, V5.B16;     \
	VADD  V6.B16, V6.B16, V6.B16;     \
	VADD  V7.B16, V7.B16, V7.B16;     \
	VADD  V25.B16, V4.B16, V4.B16;    \
	VADD  V26.B16, V5.B16, V5.B16;    \
	VADD  V27.B16, V6.B16, V6.B16;    \
	VADD  V28.B16, V7.B16, V7.B16

// func codesNEON(estimates *int32, codes, planes *uint64, words, groups int)
//
// A register holds two rows. V16 to V19 sum the weighted bits, V20 to V23 all
// bits, two lanes for each row.
TEXT ·codesNEON(SB), NOSPLIT, $0-40
	MOVD estimates+0(FP), R0
	MOVD codes+8(FP), R1
	MOVD planes+16(FP), R2
	MOVD words+24(FP), R3
	MOVD groups+32(FP), R4

group:
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	MOVD R2, R5
	MOVD R3, R6

word:
	VLD1.P 64(R1), [V0.D2, V1.D2, V2.D2, V3.D2]
	VEOR   V4.B16, V4.B16, V4.B16
	VEOR   V5.B16, V5.B16, V5.B16
	VEOR   V6.B16, V6.B16, V6.B16
	VEOR   V7.B16, V7.B16, V7.B16
	ADD    $24, R5, R7
	PLANE(R7)
	ADD    $16, R5, R7
	PLANE(R7)
	ADD    $8, R5, R7
	PLANE(R7)
	PLANE(R5)
	WORD   $0x6e202884 // UADDLP V4.8H, V4.16B
	WORD   $0x6e2028a5 // UADDLP V5.8H, V5.16B
	WORD   $0x6e2028c6 // UADDLP V6.8H, V6.16B
	WORD   $0x6e2028e7 // UADDLP V7.8H, V7.16B
	WORD   $0x6e606890 // UADALP V16.4S, V4.8H
	WORD   $0x6e6068b1 // UADALP V17.4S, V5.8H
	WORD   $0x6e6068d2 // UADALP V18.4S, V6.8H
	WORD   $0x6e6068f3 // UADALP V19.4S, V7.8H
	VCNT   V0.B16, V0.B16
	VCNT   V1.B16, V1.B16
	VCNT   V2.B16, V2.B16
	VCNT   V3.B16, V3.B16
	WORD   $0x6e202800 // UADDLP V0.8H, V0.16B
	WORD   $0x6e202821 // UADDLP V1.8H, V1.16B
	WORD   $0x6e202842 // UADDLP V2.8H, V2.16B
	WORD   $0x6e202863 // UADDLP V3.8H, V3.16B
	WORD   $0x6e606814 // UADALP V20.4S, V0.8H
	WORD   $0x6e606835 // UADALP V21.4S, V1.8H
	WORD   $0x6e606856 // UADALP V22.4S, V2.8H
	WORD   $0x6e606877 // UADALP V23.4S, V3.8H
	ADD    $32, R5
	SUBS   $1, R6
	BNE    word

	// One lane for each row, then 2·V16 − (16·V20 − V20).
	VADDP V17.S4, V16.S4, V16.S4
	VADDP V19.S4, V18.S4, V17.S4
	VADDP V21.S4, V20.S4, V20.S4
	VADDP V23.S4, V22.S4, V21.S4
	VADD  V16.S4, V16.S4, V16.S4
	VADD  V17.S4, V17.S4, V17.S4
	VADD  V20.S4, V16.S4, V16.S4
	VADD  V21.S4, V17.S4, V17.S4
	VSHL  $4, V20.S4, V20.S4
	VSHL  $4, V21.S4, V21.S4
	VSUB  V20.S4, V16.S4, V16.S4
	VSUB  V21.S4, V17.S4, V17.S4
	VST1.P [V16.S4, V17.S4], 32(R0)
	SUBS  $1, R4
	BNE   group
	RET

// ahead is how many rows before its turn a row is fetched. Rows that are picked
// are scattered in memory, and waiting for each would take longer than the
// products.
#define ahead 8

// func productsNEON(products *int32, query, rows *int16, at *uint32, n, strides int)
TEXT ·productsNEON(SB), NOSPLIT, $0-48
	MOVD products+0(FP), R0
	MOVD query+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD at+24(FP), R8
	MOVD n+32(FP), R3
	MOVD strides+40(FP), R4
	LSL  $6, R4, R9 // bytes of a row

row:
	MOVWU (R8), R10
	MADD  R9, R2, R10, R10 // the row
	MOVD  R10, R11         // and the one to fetch, if there are enough
	CMP   $ahead, R3
	BLE   begin
	MOVWU (4*ahead)(R8), R11
	MADD  R9, R2, R11, R11

begin:
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	MOVD R1, R5
	MOVD R4, R6

stride:
	VLD1.P 64(R10), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD1.P 64(R5), [V4.H8, V5.H8, V6.H8, V7.H8]
	PRFM   (R11), PLDL1KEEP
	WORD   $0x0e648010 // SMLAL V16.4S, V0.4H, V4.4H
	WORD   $0x0e658031 // SMLAL V17.4S, V1.4H, V5.4H
	WORD   $0x0e668052 // SMLAL V18.4S, V2.4H, V6.4H
	WORD   $0x0e678073 // SMLAL V19.4S, V3.4H, V7.4H
	WORD   $0x4e648014 // SMLAL2 V20.4S, V0.8H, V4.8H
	WORD   $0x4e658035 // SMLAL2 V21.4S, V1.8H, V5.8H
	WORD   $0x4e668056 // SMLAL2 V22.4S, V2.8H, V6.8H
	WORD   $0x4e678077 // SMLAL2 V23.4S, V3.8H, V7.8H
	ADD    $64, R11
	SUBS   $1, R6
	BNE    stride

	VADD   V17.S4, V16.S4, V16.S4
	VADD   V19.S4, V18.S4, V18.S4
	VADD   V21.S4, V20.S4, V20.S4
	VADD   V23.S4, V22.S4, V22.S4
	VADD   V18.S4, V16.S4, V16.S4
	VADD   V22.S4, V20.S4, V20.S4
	VADD   V20.S4, V16.S4, V16.S4
	VADDV  V16.S4, V16
	VMOV   V16.S[0], R7
	MOVW.P R7, 4(R0)
	ADD    $4, R8
	SUBS   $1, R3
	BNE    row
	RET
