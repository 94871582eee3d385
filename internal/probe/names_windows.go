package probe

import "os"

const nonblock = 0

func name(err error) string { return err.Error() }

func signalOf(*os.ProcessState) string { return "" }
