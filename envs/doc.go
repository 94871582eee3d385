// Package envs keeps named environments of Python and R: it finds interpreters, makes environments, says what is in them without ever starting their
// interpreter, and brings packages in through an install sandbox that it is given.
package envs
