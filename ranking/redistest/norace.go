//go:build !race

package redistest

const stride = 1
