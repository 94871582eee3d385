//go:build linux && !amd64

package probe

import "errors"

var errProcessor = errors.New("this processor has no such call")

func int80(_, _, _, _ int32) (int32, error) { return 0, errProcessor }

func clone3(uint64) error { return errProcessor }
