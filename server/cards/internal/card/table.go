package card

import "image"

const (
	tableRows  = 6 // more would be too small to read
	headHeight = 46
	columnGap  = 44
)

// table draws rows whose scores have columns, below the heads of the columns. All figures of a column end below its head.
func (p *painter) table(heads []string, rows []Row) {
	rows = rows[:min(len(rows), tableRows)]
	panel := image.Rect(margin, panelTop, Width-margin, panelBottom)
	p.panel(panel)
	height := min(maxRowHeight, (panel.Dy()-headHeight)/len(rows))
	top := panel.Min.Y + (panel.Dy()-headHeight-len(rows)*height)/2
	boxes := make([]image.Rectangle, len(heads)) // of the heads
	left := panel.Max.X - rowPadding
	widths := p.columnWidths(heads, rows, height)
	for i := len(heads) - 1; i >= 0; i-- {
		boxes[i] = image.Rect(left-widths[i], top, left, top+headHeight)
		left -= widths[i] + columnGap
	}
	for i, box := range boxes {
		head := p.present(heads[i])
		p.textIn(box, p.fit(head, headStyle, float32(widths[i])), quietOnPanel, head, alignRight)
	}
	top += headHeight
	for i, row := range rows {
		box := image.Rect(panel.Min.X, top+i*height, panel.Max.X, top+(i+1)*height)
		p.canvas.fill(image.Rect(box.Min.X+rowPadding, box.Min.Y, box.Max.X-rowPadding, box.Min.Y+2), lineOnPanel, fillAll)
		inside, name, of := p.place(box, row)
		for j, value := range row.Values {
			cell := image.Rect(boxes[j].Min.X, inside.Min.Y, boxes[j].Max.X, inside.Max.Y)
			figures := style{of.size, j == 0} // the first column decides
			p.textIn(cell, p.fit(value, figures, float32(widths[j])), inkOnPanel, value, alignRight)
		}
		inside.Max.X = boxes[0].Min.X - columnGap/2
		p.textIn(inside, of, inkOnPanel, name, alignLeft)
	}
}

var headStyle = style{22, false}

// columnWidths are the widths of columns, px, in rows of a height. All of them together leave room for names.
func (p *painter) columnWidths(heads []string, rows []Row, height int) []int {
	figures := style{rowSize(height), true}
	widths := make([]int, len(heads))
	sum, room := 0, (Width-2*margin)*6/10-columnGap*len(heads)
	for i, head := range heads {
		width := p.typesetter.shape([]rune(p.present(head)), headStyle).width
		for _, row := range rows {
			width = max(width, p.typesetter.shape([]rune(row.Values[i]), figures).width)
		}
		widths[i] = int(width) + 2
		sum += widths[i]
	}
	for i := range widths {
		if sum > room {
			widths[i] = widths[i] * room / sum
		}
	}
	return widths
}
