package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// clockTick is the unit of CPU times in /proc (proc(5), USER_HZ): 100 a second on all processors that Go knows.
const clockTick = 10 * time.Millisecond

// processCPU is the CPU time that a process has used, all its threads together.
func processCPU(pid int) (used time.Duration, known bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name of the program, which may hold spaces, ends with the last parenthesis. utime and stime are the fields 14
	// and 15, and the first after the name is 3.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, false
	}
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	if err != nil {
		return 0, false
	}
	system, err := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * clockTick, err == nil
}

// processMemory is the resident memory of a process, in bytes.
func processMemory(pid int) (bytesUsed int64, known bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	var kib int64
	_, err = fmt.Sscan(string(rest), &kib)
	return kib << 10, err == nil
}

// ownCPU is the CPU time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machineCPU reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
func machineCPU() (m machineTimes) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return m
	}
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	for i, field := range bytes.Fields(line) {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			continue // the name of the line
		}
		d := time.Duration(n) * clockTick
		switch i {
		case 1, 2, 3, 6, 7:
			m.busy += d
		case 8:
			m.steal += d
		case 4, 5:
		default:
			continue // guests, which user has already
		}
		m.total += d
	}
	return m
}
