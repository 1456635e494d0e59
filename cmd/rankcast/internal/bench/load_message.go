package bench

import "strings"

// digit marks a place of a message whose digits a caller writes before each send.
const digit = '\x00'

// message is the body of a request that is built once. Its slots have a fixed width, so that a caller fills them in place. One
// goroutine may use it at a time.
type message struct {
	text  []byte
	slots [][]byte // parts of text, in order
}

// slot is the text of a slot of that many digits.
func slot(digits int) string { return strings.Repeat(string(digit), digits) }

// newMessage finds the slots in a text.
func newMessage(text string) *message {
	m := &message{text: []byte(text)}
	for i := 0; i < len(m.text); i++ {
		begin := i
		for i < len(m.text) && m.text[i] == digit {
			m.text[i] = '0'
			i++
		}
		if i > begin {
			m.slots = append(m.slots, m.text[begin:i])
		}
	}
	return m
}

// set writes a number into a slot, with zeros before it.
func (m *message) set(slot int, n uint64) { putDigits(m.slots[slot], n) }

func putDigits(digits []byte, n uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
}
