package pages

import "time"

func init() { fillTimeout = 5 * time.Second }

// DocPages are the pages of the documentation in the order of the menu.
var DocPages = siteContent().docs
