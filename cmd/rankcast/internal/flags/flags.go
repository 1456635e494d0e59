// Package flags checks flags by their bounds.
package flags

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// CheckRanges checks each flag of a command whose tag range names its least and its greatest value: range:"1..1000", or
// range:"10ms..5m" for a duration. With range:"0.." there is no greatest value. A flag that is not set may have any default.
func CheckRanges(command *kong.Context) error {
	for _, flag := range command.Flags() {
		least, most, isBounded := Bounds(flag)
		value := reflect.Indirect(flag.Target)
		if !isBounded || !value.IsValid() || least <= value.Int() && value.Int() <= most {
			continue
		}
		from, to, _ := strings.Cut(flag.Tag.Get("range"), "..")
		if to == "" {
			return fmt.Errorf("--%s must be %s or more", flag.Name, from)
		}
		return fmt.Errorf("--%s must be from %s to %s", flag.Name, from, to)
	}
	return nil
}

// Bounds returns the least and the greatest value of a flag; isBounded is false where the flag has no tag range. It panics if the
// tag is malformed.
func Bounds(flag *kong.Flag) (least, most int64, isBounded bool) {
	tag := flag.Tag.Get("range")
	if tag == "" {
		return 0, 0, false
	}
	parse := func(text string) (n int64, err error) {
		if flag.Target.Type() == reflect.TypeFor[time.Duration]() {
			d, err := time.ParseDuration(text)
			return int64(d), err
		}
		return strconv.ParseInt(text, 10, 64)
	}
	from, to, isRange := strings.Cut(tag, "..")
	least, err := parse(from)
	most = math.MaxInt64
	if to != "" {
		var wrong error
		most, wrong = parse(to)
		err = cmp.Or(err, wrong)
	}
	if !isRange || err != nil || least > most {
		panic(fmt.Sprintf("flag --%s: range %q is malformed", flag.Name, tag))
	}
	return least, most, true
}

// CheckRange checks a flag whose bounds depend on other flags.
func CheckRange(flag string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("--%s must be from %d to %d", flag, least, most)
	}
	return nil
}
