package network_test

import (
	"regexp"
	"strings"
	"testing"

	"almanac/catalog/network"
)

func TestKeyAndID(t *testing.T) {
	tests := []struct {
		prefix  string
		digits  int
		number  string
		key, id string
	}{
		{"CIP", 0, "56", "CIP-0056", "0056"},
		{"CIP", 0, "00000056", "CIP-0056", "0056"},
		{"CIP", 0, "0", "CIP-0000", "0000"},
		{"CIP", 4, "12345", "CIP-12345", "12345"},
		{"EIP", 1, "1559", "EIP-1559", "1559"},
		{"EIP", 1, "0020", "EIP-20", "20"},
		{"EIP", 1, "000", "EIP-0", "0"},
		{"LIP", 3, "7", "LIP-007", "007"},
		{"LIP", 0, "46-1", "LIP-0046-01", "0046-01"},
		{"LIP", 1, "0046-012", "LIP-46-12", "46-12"},
	}
	for _, tt := range tests {
		p := network.Proposals{Prefix: tt.prefix, Digits: tt.digits}
		key := p.Key(tt.number)
		if id := p.ID(key); key != tt.key || id != tt.id {
			t.Errorf("%s with %d digits: Key(%q) = %q, its ID %q; want %q, %q",
				tt.prefix, tt.digits, tt.number, key, id, tt.key, tt.id)
		}
	}
	p := network.Proposals{Prefix: "EIP"}
	for _, key := range []string{"PR-203", network.DraftKey(7), "CIP-0056", "EIP-x", "EIP-1-", "EIP-1-2-3", "EIP-1-234",
		""} {
		if id := p.ID(key); id != key {
			t.Errorf("ID(%q) = %q; want the key itself", key, id)
		}
	}
}

func TestParseID(t *testing.T) {
	cip := network.Proposals{Prefix: "CIP"}
	eip := network.Proposals{Prefix: "EIP", Digits: 1}
	lip := network.Proposals{Prefix: "LIP", Digits: 3}
	tests := []struct {
		of       network.Proposals
		ids, key string
	}{
		{cip, "CIP-56|cip 0056|CIP#56|56|0056|cip56| Cip-056\t|\n000056", "CIP-0056"},
		{cip, "0|CIP-0|0000", "CIP-0000"},
		{eip, "EIP-1559|eip 1559|1559|EIP#1559|eip1559|CIP-1559|cip 1559|01559", "EIP-1559"},
		{eip, "20000|EIP-20000|cip-020000", "EIP-20000"},
		{eip, "123456|eip 123456", "EIP-123456"},
		{lip, "7|LIP-7|lip 007|CIP-0007", "LIP-007"},
		{cip, "PR-203|pr 203|PR#203|pr203| pr-0203 ", "PR-203"},
		{eip, "PR-0", "PR-0"},
		{lip, "46-1|LIP-46-01|lip 046-1|0046-01|CIP-46-1", "LIP-046-01"},
	}
	for _, tt := range tests {
		for id := range strings.SplitSeq(tt.ids, "|") {
			if key, ok := tt.of.ParseID(id); !ok || key != tt.key {
				t.Errorf("%s: ParseID(%q) = %q, %v; want %q", tt.of.Prefix, id, key, ok, tt.key)
			}
		}
	}
	for _, id := range []string{
		"", " ", "-", "CIP", "EIP-", "EIP--1", "EIP- 1",
		"LIP-56", "EIP-1559x", "1.5", "-5", "1234567", "PR", "PR-", "PR-x", "EIP 15 59", "１５",
		"PR-203-1", "15-", "15-123", "15-1-1", "-15-1", "15-x", "2031-02-03",
	} {
		if key, ok := eip.ParseID(id); ok {
			t.Errorf("ParseID(%q) = %q; want none", id, key)
		}
	}
}

// prefixForm is what Parse takes for a prefix.
var prefixForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,15}$`)

func FuzzParseID(f *testing.F) {
	for _, id := range []string{"CIP-56", "eip 1559", "PR-203", "0000", "x2 5", "PR00", "９", "EIP-46-1", "0-00"} {
		f.Add("EIP", uint8(1), id)
	}
	f.Fuzz(func(t *testing.T, prefix string, digits uint8, id string) {
		p := network.Proposals{Prefix: prefix, Digits: int(digits % 7)}
		key, ok := p.ParseID(id)
		if !ok || !prefixForm.MatchString(prefix) || strings.EqualFold(prefix, "PR") {
			return
		}
		if again, ok := p.ParseID(p.ID(key)); !ok || again != key {
			t.Errorf("ParseID(%q) = %q, whose id %q is read as %q, %v", id, key, p.ID(key), again, ok)
		}
		if again, ok := p.ParseID(key); !ok || again != key {
			t.Errorf("ParseID(%q) = %q, which is read as %q, %v", id, key, again, ok)
		}
	})
}
