package definition

import (
	"bytes"
	"math/big"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns one text for all spellings of a JSON value: the order of names, white space, escapes, and
// forms of a number such as 1, 1.0 and 10e-1, or 0 and -0. Values that differ have different texts, whatever
// the size and the precision of their numbers. A text that is not valid JSON stays as it is.
func canonical(v jsontext.Value) []byte {
	v = v.Clone()
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return v
	}
	b := make([]byte, 0, len(v))
	for len(v) > 0 {
		n := 1
		switch {
		case v[0] == '"':
			for v[n] != '"' {
				if v[n] == '\\' {
					n++
				}
				n++
			}
			n++
		case v[0] == '-' || '0' <= v[0] && v[0] <= '9':
			for n < len(v) && bytes.IndexByte([]byte("+-.eE0123456789"), v[n]) >= 0 {
				n++
			}
			b, v = appendNumber(b, v[:n]), v[n:]
			continue
		}
		b, v = append(b, v[:n]...), v[n:]
	}
	return b
}

// appendNumber appends the only form of a number that has an integer without zeros at its end: 12 for 12.0, 12e2
// for 1200. No number is rounded.
func appendNumber(b, text []byte) []byte {
	digits, exponentText, _ := bytes.Cut(bytes.ToLower(text), []byte("e"))
	digits, negative := bytes.CutPrefix(digits, []byte("-"))
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	digits = bytes.TrimLeft(append(bytes.Clone(whole), fraction...), "0")
	significant := bytes.TrimRight(digits, "0")
	if len(significant) == 0 {
		return append(b, '0')
	}
	if negative {
		b = append(b, '-')
	}
	b = append(b, significant...)
	shift := big.NewInt(int64(len(digits) - len(significant) - len(fraction)))
	if exponent, ok := new(big.Int).SetString(string(exponentText), 10); ok {
		shift.Add(shift, exponent) // an exponent may have any number of digits
	}
	if shift.Sign() != 0 {
		b = shift.Append(append(b, 'e'), 10)
	}
	return b
}
