package launcher

import (
	"os"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/config"
)

// stamp changes when a file does, comes or goes.
type stamp struct {
	is       bool
	size     int64
	modified int64
	mode     os.FileMode
	inode    uint64
}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	return stamp{true, info.Size(), info.ModTime().UnixNano(), info.Mode(), inode(info)}
}

// stamps are those of the policy's files.
type stamps [3]stamp

func stampsOf(files [3]string) (s stamps) {
	for i, f := range files {
		s[i] = stampOf(f)
	}
	return s
}

// An editor that saves in place leaves an empty file, or none, for a moment, and after that half of one. Either can be read, and would take away what
// denies. So a file is let be for as long as it may still be being written.
const (
	writingLook = 5 * time.Millisecond
	writingRest = 20 * time.Millisecond // since the last write
	writingMost = config.SaveTime       // for what has gone, or has been emptied, altogether
)

// settled stamps the files when they are not being written any more, or no longer than can be waited for.
func settled(files [3]string, writing func(stamps) bool) stamps {
	now := stampsOf(files)
	for until := time.Now().Add(writingMost); writing(now) && time.Now().Before(until); now = stampsOf(files) {
		<-time.After(writingLook)
	}
	return now
}

func (s stamps) unfinished(before stamps) bool {
	for i, f := range s {
		switch {
		case f.size == 0: // or it is not there
			if before[i].size > 0 {
				return true
			}
		case f.age() < writingRest:
			return true
		}
	}
	return false
}

// young is for who does not know what there was before.
func (s stamps) young() bool {
	for _, f := range s {
		if age := f.age(); f.is && (age < writingRest || f.size == 0 && age < writingMost) && age > -time.Minute { // a clock may be wrong
			return true
		}
	}
	return false
}

func (s stamp) age() time.Duration { return time.Since(time.Unix(0, s.modified)) }
