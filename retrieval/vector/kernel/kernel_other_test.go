//go:build !amd64 && !arm64

package kernel

func codeKernels() []codeKernel { return nil }

func productKernels() []productKernel { return nil }
