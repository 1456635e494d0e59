package live

import (
	"time"

	"rankcast/hub"
	"rankcast/server/access"
)

// past is a deadline at which a write that waits fails at once.
var past = time.Unix(1, 0)

// frameMemory is the memory of a frame that waits. The rest of a frame keeps all of it.
func frameMemory(f *hub.Frame) access.Memory {
	shared, size := f.Shared()
	own := f.Size()
	if shared != nil {
		own -= len(f.WebSocket()[1])
	}
	return access.Memory{Own: own, Shared: shared, SharedSize: size}
}
