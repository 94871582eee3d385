// Package proctree tells tests what still runs of what they started.
package proctree
