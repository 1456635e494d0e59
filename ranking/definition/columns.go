package definition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Columns are the parts of a score that is made of several numbers, from the left. Scores are compared column by column from
// the left, each by its own order. nil: the scores of the board are single numbers.
//
// A board stores one integer for all columns of a score: the sum of each value, negated for Asc, times the product of
// the ranges of the columns to its right. So the integer sorts as the columns do, 0 stands for 0 in each column, and the sum of
// two scores is the sum in each column.
type Columns []Column

// Column is one of several numbers that make up a score.
type Column struct {
	Name    string  `json:"name"`             // 1 to 32 characters of a-z, 0-9 and underscore, of which the first is a letter
	Title   Label   `json:"title,omitzero"`   // texts of up to 80 characters. Default: pages show the name
	Order   Order   `json:"order"`            // default desc
	Min     int64   `json:"min,omitzero"`     // least value, at most 0: the value of a member that is not on the board. Default 0
	Max     int64   `json:"max"`              // greatest value, 1 or more
	Display Display `json:"display,omitzero"` // of the column
}

const (
	leastColumns, MaxColumns = 2, 8
	maxColumnName            = 32
	// maxPacked bounds the product of the ranges of columns: the fraction of a sort key then tells 4,096 arrivals at one
	// score apart. With ties ByMember a sort key has no fraction.
	maxPacked, maxPackedByMember = 1 << 40, MaxScore + 1
)

// bounds are the least and the greatest value as the column stands in a packed score.
func (c Column) bounds() (low, high int64) {
	if c.Order == Asc {
		return -c.Max, -c.Min
	}
	return c.Min, c.Max
}

// sign is the factor of the column's values in a packed score: the higher score ranks higher.
func (c Column) sign() int64 { return -c.Order.Sign() }

// Pack returns the integer for the values of all columns, from the left. Each value is within its range.
func (c Columns) Pack(values []int64) (score int64) {
	for i, column := range c {
		score = score*(column.Max-column.Min+1) + column.sign()*values[i]
	}
	return score
}

// Unpack returns the values of the columns in an integer that Pack has returned.
func (c Columns) Unpack(score int64) (values [MaxColumns]int64) {
	for i := len(c) - 1; i >= 0; i-- {
		column := c[i]
		low, _ := column.bounds()
		width := column.Max - column.Min + 1
		v := (score - low) % width
		if v < 0 {
			v += width
		}
		v += low
		values[i], score = column.sign()*v, (score-v)/width
	}
	return values
}

// AppendJSON appends the columns of a score as a JSON object.
func (c Columns) AppendJSON(b []byte, score int64) []byte { return c.appendValues(b, c.Unpack(score)) }

// JSON is AppendJSON to nothing; nil on a board without columns.
func (c Columns) JSON(score int64) jsontext.Value {
	if c == nil {
		return nil
	}
	return c.AppendJSON(nil, score)
}

// AppendToNext appends a JSON object with what each column of a score lacks to be that of the next higher score: a column that is
// better already has a negative number.
func (c Columns) AppendToNext(b []byte, own, next int64) []byte {
	values, above := c.Unpack(own), c.Unpack(next)
	for i, column := range c {
		values[i] = column.sign() * (above[i] - values[i])
	}
	return c.appendValues(b, values)
}

func (c Columns) appendValues(b []byte, values [MaxColumns]int64) []byte {
	b = append(b, '{')
	for i, column := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), column.Name...), '"', ':')
		b = strconv.AppendInt(b, values[i], 10)
	}
	return append(b, '}')
}

// Equal reports whether scores of both columns have the same meaning. Titles and the form on pages may differ.
func (c Columns) Equal(other Columns) bool {
	return slices.EqualFunc(c, other, func(a, b Column) bool {
		return a.Name == b.Name && a.Order == b.Order && a.Min == b.Min && a.Max == b.Max
	})
}

// names lists the names for an error.
func (c Columns) names() string {
	names := make([]string, len(c))
	for i, column := range c {
		names[i] = column.Name
	}
	return strings.Join(names, ", ")
}

// example is what a caller may send as columns, for an error.
func (c Columns) example() string {
	values := [MaxColumns]int64{1}
	return `columns, such as ` + string(c.appendValues(nil, values))
}

// checkKnown refuses values of columns that the board has not.
func checkKnown[T any](c Columns, field string, given map[string]T) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(c, func(column Column) bool { return column.Name == name }) {
			return Invalid(FieldPath(field, name), "is not a column of the board, which has "+c.names())
		}
	}
	return nil
}

// missingColumn returns the first column that an update with some op must have, and has not; "" for none.
func missingColumn[T any](c Columns, given map[string]T, op Mode) string {
	for _, column := range c {
		if _, there := given[column.Name]; !there && op != Sum {
			return column.Name
		}
	}
	return ""
}

// Amounts returns the values of an update's columns, from the left. They are changes if op is Sum: then columns may be left
// out. The error is a FieldError. Its kind is ErrOutOfRange for a value that no score can have, and ErrInvalid otherwise.
func (c Columns) Amounts(u Update, op Mode) ([]int64, error) {
	switch {
	case c == nil && u.Columns == nil:
		return nil, nil
	case c == nil:
		return nil, Invalid("columns", "does not apply to a board without columns; want score")
	case u.Columns == nil:
		return nil, Invalid("score", "does not apply to a board with columns; want "+c.example())
	case len(u.Columns) == 0:
		return nil, Invalid("columns", "is empty; want at least one of "+c.names())
	}
	if err := checkKnown(c, "columns", u.Columns); err != nil {
		return nil, err
	}
	if name := missingColumn(c, u.Columns, op); name != "" {
		return nil, Invalid(FieldPath("columns", name), "is missing; only an update with op sum may leave columns out")
	}
	amounts := make([]int64, len(c))
	for i, column := range c {
		n := u.Columns[column.Name]
		low, high := column.Min, column.Max
		if op == Sum {
			low, high = column.Min-column.Max, column.Max-column.Min
		}
		if n < low || n > high {
			return nil, c.OutOfRange(i)
		}
		amounts[i] = n
	}
	switch {
	case u.Score == 0:
	case op == Sum:
		return nil, ErrTwoScores
	case u.Score != c.Pack(amounts):
		return nil, Invalid("score", fmt.Sprintf("is %d, but the columns beside it make %d; omit it", u.Score, c.Pack(amounts)))
	}
	return amounts, nil
}

// ErrTwoScores is the error of an update that has both a score and columns.
var ErrTwoScores = Invalid("score", "cannot stand beside columns")

// OutOfRange is the error of an update that would leave the range of a column.
func (c Columns) OutOfRange(i int) error {
	return &FieldError{Field: FieldPath("columns", c[i].Name), Kind: ErrOutOfRange,
		Reason: fmt.Sprintf("is, or results in, a value outside %d to %d", c[i].Min, c[i].Max)}
}

// Score returns the integer for a tuple of columns, of which some may be left out: they are 0. field names the tuple in the
// FieldError for a column that does not exist, or a value that is not within its range.
func (c Columns) Score(field string, tuple map[string]int64) (int64, error) {
	if err := checkKnown(c, field, tuple); err != nil {
		return 0, err
	}
	values := make([]int64, len(c))
	for i, column := range c {
		n := tuple[column.Name]
		if n < column.Min || n > column.Max {
			return 0, Invalid(FieldPath(field, column.Name), fmt.Sprintf("is %d; want %d to %d", n, column.Min, column.Max))
		}
		values[i] = n
	}
	return c.Pack(values), nil
}

// Bound returns the score that bounds a read: score, or on a board with columns that of a tuple; nil for no bound. prefix stands before
// the names of both in the FieldError.
func (c Columns) Bound(prefix string, score *int64, tuple map[string]int64) (*int64, error) {
	switch {
	case c == nil && tuple != nil:
		return nil, Invalid(prefix+"columns", "does not apply to a board without columns; want "+prefix+"score")
	case c != nil && score != nil:
		return nil, Invalid(prefix+"score", fmt.Sprintf("does not apply to a board with columns; want %scolumns, such as %s:1,%s:0", prefix,
			c[0].Name, c[1].Name))
	case tuple == nil:
		return score, nil
	}
	packed, err := c.Score(prefix+"columns", tuple)
	return &packed, err
}

// ParseColumns reads the values of columns from a text such as solved:5,penalty:320. The error is a FieldError for field.
func ParseColumns(field, text string) (map[string]int64, error) {
	values := make(map[string]int64)
	for part := range strings.SplitSeq(text, ",") {
		name, digits, ok := strings.Cut(part, ":")
		if _, again := values[name]; !ok || again || columnNameFault(name) != "" || len(values) == MaxColumns {
			return nil, Invalid(field, fmt.Sprintf("is %q; want each column once, with its value, such as solved:5,penalty:320", Clip(text)))
		}
		var err error
		if values[name], err = ParseScore(FieldPath(field, name), digits); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// checkColumns normalizes columns, and refuses the fields that have no meaning beside them.
func (d *Board) checkColumns(FamilyName) error {
	if len(d.Columns) == 0 {
		d.Columns = nil
		return nil
	}
	if n := len(d.Columns); n < leastColumns || n > MaxColumns {
		return Invalid("columns", fmt.Sprintf("has %d columns; want %d to %d", n, leastColumns, MaxColumns))
	}
	if field := firstGiven([]presence{
		{"order", d.Order == Asc}, {"display", d.Display.isGiven()}, {"window", d.Window != 0}, {"union", d.Union != nil},
		{"min", d.Min != nil}, {"max", d.Max != nil}, {"max_change", d.MaxChange != 0},
	}); field != "" {
		return Invalid(field, "does not apply to a board with columns; omit it"+map[string]string{
			"order": ": each column has an order", "display": ": each column has a display", "min": ": each column has a min",
			"max": ": each column has a max"}[field])
	}
	most := int64(maxPacked)
	if d.Ties == ByMember {
		most = maxPackedByMember
	}
	d.Columns = slices.Clone(d.Columns)
	packed := int64(1)
	for i := range d.Columns {
		c := &d.Columns[i]
		if err := c.normalize(ItemPath("columns", i)); err != nil {
			return err
		}
		if slices.ContainsFunc(d.Columns[:i], func(other Column) bool { return other.Name == c.Name }) {
			return Invalid(ItemPath("columns", i)+".name", fmt.Sprintf("is %s, as another column has it", c.Name))
		}
		width := c.Max - c.Min + 1
		if width > most/packed {
			return Invalid("columns", fmt.Sprintf("have ranges (max − min + 1) whose product is more than %d; want narrower ranges%s", most,
				map[bool]string{true: ", or ties member, with which the product may be 2^53"}[d.Ties != ByMember]))
		}
		packed *= width
	}
	return nil
}

func (c *Column) normalize(path string) error {
	if reason := columnNameFault(c.Name); reason != "" {
		return Invalid(path+".name", reason)
	}
	if err := cmp.Or(oneOf(path+".order", &c.Order, Desc, Asc), c.Display.normalize(path+".display"),
		c.Title.normalize(path+".title", func(text string) string { return lengthFault(text, maxTitleChars) })); err != nil {
		return err
	}
	switch {
	case c.Min > 0 || c.Min < -MaxScore:
		return Invalid(path+".min", fmt.Sprintf("is %d; want 0 or less: the value of a member that is not on the board is 0", c.Min))
	case c.Max == 0:
		return Invalid(path+".max", "is missing; want the greatest value of the column")
	case c.Max < 1 || c.Max > MaxScore:
		return Invalid(path+".max", fmt.Sprintf("is %d; want 1 to %d", c.Max, int64(MaxScore)))
	}
	return nil
}

// columnNameFault says what is wrong with the name of a column, or returns "".
func columnNameFault(name string) string {
	if name == "" {
		return "is missing"
	}
	for i, r := range []byte(name) {
		if letter := 'a' <= r && r <= 'z'; !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) || i == maxColumnName {
			return fmt.Sprintf("is %q; want 1 to %d characters of a-z, 0-9 and underscore, of which the first is a letter", Clip(name),
				maxColumnName)
		}
	}
	return ""
}

func (d *Board) readColumns(v Value) error {
	if v.Kind != '[' {
		return v.Want("a list of columns, such as [{name: solved, max: 20}, {name: penalty, order: asc, max: 99999}]")
	}
	d.Columns = make(Columns, len(v.Items))
	for i, item := range v.Items {
		err := ReadFields(item, &d.Columns[i], "an object, such as {name: solved, max: 20}", "a column", columnReaders)
		if err != nil {
			return err
		}
	}
	if len(d.Columns) == 0 {
		return v.Refuse("is empty; omit it for scores that are single numbers")
	}
	return nil
}

// columnReaders read the fields of a column.
var columnReaders = []FieldReader[Column]{
	{Name: "name", Read: func(c *Column, v Value) error { return ReadText(v, &c.Name) }},
	{Name: "title", Read: func(c *Column, v Value) error { return c.Title.read(v) }},
	{Name: "order", Read: func(c *Column, v Value) error { return ReadText(v, &c.Order) }},
	{Name: "min", Read: func(c *Column, v Value) error { return readBound(v, &c.Min) }},
	{Name: "max", Read: func(c *Column, v Value) error { return readInteger(v, &c.Max, 1) }},
	{Name: "display", Read: func(c *Column, v Value) error { return c.Display.read(v) }},
}
