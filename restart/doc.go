// Package restart decides, from two snapshots of an environment, which kernels must restart.
package restart
