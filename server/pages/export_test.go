package pages

import "time"

func init() { fillTimeout = 5 * time.Second }

// DocSlugs are the pages of the documentation in the order of the menu.
var DocSlugs = docSlugs
