package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"almanac/testing/editiontest"
	"almanac/text/pdf"
)

func TestEdition(t *testing.T) {
	var texts []string
	for _, content := range []string{hello, strings.Repeat("BT /F1 1 Tf (word) Tj ET ", 30),
		`BT /F1 12 Tf 72 712 Td (The harbour ope) Tj (ns at six\001.) Tj 0 -14 Td (It is lit-) Tj T* (up.) Tj ET`,
		`BT /F1 12 Tf [(Ti) -20 (des) -400 (rise.)] TJ ET`, "q 100 0 0 100 0 0 cm /Im1 Do Q"} {
		text, pages, err := pdf.Text(simple(content), 60)
		texts = append(texts, text, fmt.Sprint(pages, err))
	}
	editiontest.Check(t, texts...)
}
