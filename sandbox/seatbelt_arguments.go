package sandbox

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Arguments is the command line of sandbox-exec for a command, with the values of the parameters that a start chooses.
func (s *Seatbelt) Arguments(start map[string]string, command []string) ([]string, error) {
	argv := []string{seatbeltProgram, "-p", s.Profile}
	known := map[string]bool{}
	for _, p := range s.Parameters {
		known[p.Name] = p.AtStart
		value, given := p.Value, true
		if p.AtStart {
			value, given = start[p.Name]
		}
		switch {
		case !given && p.Optional:
			continue
		case !given:
			return nil, fmt.Errorf("parameter %s of the profile has no value: %s", p.Name, p.Why)
		}
		if p.AtStart {
			if err := checkParameter(p.Name, value); err != nil {
				return nil, err
			}
		}
		argv = append(argv, "-D", p.Name+"="+value)
	}
	for _, name := range sortedKeys(start) {
		if !known[name] {
			return nil, fmt.Errorf("parameter %s is none that this profile takes at a start; it takes %s", name, strings.Join(startNames(s.Parameters), ", "))
		}
	}
	return append(argv, command...), nil
}

// checkParameter refuses a value that would open more than its name says: a port of localhost, or one folder by the name that the system's kernel gives it.
func checkParameter(name, value string) error {
	if name == ParameterTemp {
		if clean, err := cleanDarwin(value); err != nil || clean != value || value == "/" {
			return fmt.Errorf("parameter %s: %q is not the real path of a folder", name, value)
		}
		return nil
	}
	digits, ok := strings.CutPrefix(value, "localhost:")
	if port, err := strconv.ParseUint(digits, 10, 16); !ok || err != nil || port == 0 || strconv.FormatUint(port, 10) != digits {
		return fmt.Errorf("parameter %s: %q is not localhost and a port", name, value)
	}
	return nil
}

func startNames(params []Parameter) []string {
	var out []string
	for _, p := range params {
		if p.AtStart {
			out = append(out, p.Name)
		}
	}
	sort.Strings(out)
	return out
}
