package envs

// uvVersion is the one that is brought in.
const uvVersion = "0.13.9"

// uvOldest is the oldest that answers as this code expects: major and minor.
var uvOldest = [2]int{0, 9}

// uvFile is a wheel of uv: no Python is needed to use what is in it.
type uvFile struct{ name, sha256 string }

// uvWheels are the wheels of uvVersion by platform: goos/goarch, with "/musl" where the C library is not glibc.
var uvWheels = map[string]uvFile{
	"darwin/amd64":     {"uv-0.13.9-py3-none-macosx_10_12_x86_64.whl", "c16ed11e013557536b3e60065f1b912f6407bd6518e041b961e23ef9e6b4fbf5"},
	"darwin/arm64":     {"uv-0.13.9-py3-none-macosx_11_0_arm64.whl", "66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63"},
	"linux/386":        {"uv-0.13.9-py3-none-manylinux_2_17_i686.manylinux2014_i686.whl", "db5c8df7145c21ffea9c0f74e38823bac3af60cbadf0e26b8633f08627b17bab"},
	"linux/386/musl":   {"uv-0.13.9-py3-none-musllinux_1_1_i686.whl", "a2ee66fe8b6608e1482ab1bde5799da04705c1cb40324c7f66054ecf46ae6e40"},
	"linux/amd64":      {"uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"},
	"linux/amd64/musl": {"uv-0.13.9-py3-none-musllinux_1_1_x86_64.whl", "2c45530751517d6c3bbc69a19473f6effe47cce047bede01ffd8af7ea7b36b25"},
	"linux/arm":        {"uv-0.13.9-py3-none-manylinux_2_17_armv7l.manylinux2014_armv7l.whl", "16963d19594e18d746a70c7fce82237bde4f2cac4cfcf0ca2b84796fe9d0c6e9"},
	"linux/arm/musl":   {"uv-0.13.9-py3-none-manylinux_2_17_armv7l.manylinux2014_armv7l.musllinux_1_1_armv7l.whl", "7ec1e1dd9b6cb335c301afdf877989df384227313981850755a59561f75e4ab8"},
	"linux/arm64":      {"uv-0.13.9-py3-none-manylinux_2_28_aarch64.whl", "ecb6028d79dc96fbeafffe5c8af62a7099487ebc05a701e76714eebcffd06375"},
	"linux/arm64/musl": {"uv-0.13.9-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl", "5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe"},
	"linux/ppc64le":    {"uv-0.13.9-py3-none-manylinux_2_17_ppc64le.manylinux2014_ppc64le.whl", "c5dbdb7c8737cd183a9dce95b39cfd1f3d54ec2a27a1bb58f160293f9ba2c805"},
	"linux/riscv64":    {"uv-0.13.9-py3-none-manylinux_2_31_riscv64.whl", "6b0c7b9f47a5d011939d61e324d3fe18a8bc155d8dd53add738709a92f290a7c"},
	"linux/s390x":      {"uv-0.13.9-py3-none-manylinux_2_17_s390x.manylinux2014_s390x.whl", "a6e845f387e4ed55bb59342957a9179e24a631fcc7668bda3426ae1cef8ed4b9"},
	"windows/386":      {"uv-0.13.9-py3-none-win32.whl", "3eeeb51a267a2144640fcd8f38d4a2f63439b39bc47445fd84727c3fc462c843"},
	"windows/amd64":    {"uv-0.13.9-py3-none-win_amd64.whl", "6a44b2ed8111d2f60d2b92627c5dccda3f7ed7570b18ce115e569cd68c28246b"},
	"windows/arm64":    {"uv-0.13.9-py3-none-win_arm64.whl", "eeb92051c2123b9730c46b04cc843cfa4bc7d7b0aec56df431a2215ef4cb0273"},
}

// uvWheel returns the wheel for a platform.
func uvWheel(goos, goarch string, musl bool) (uvFile, bool) {
	key := goos + "/" + goarch
	if goos == "linux" && musl {
		key += "/musl"
	}
	f, ok := uvWheels[key]
	return f, ok
}
