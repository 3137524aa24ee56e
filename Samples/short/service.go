// A service in Go, by cgo: GET /?input=take.mov has the orientation signals of a file as JSON.  service ADDRESS
package main

/*
#cgo pkg-config: upright
#include <stdlib.h>
#include <upright.h>
*/
import "C"

import (
	"io"
	"log"
	"net/http"
	"os"
	"unsafe"
)

func probe(answer http.ResponseWriter, request *http.Request) {
	input := C.CString(request.URL.Query().Get("input"))
	defer C.free(unsafe.Pointer(input))
	var json *C.char
	failure := C.upright_error{size: C.sizeof_upright_error}
	if C.upright_probe(input, &json, &failure) != C.UPRIGHT_OK {
		http.Error(answer, C.GoString(&failure.message[0]), http.StatusUnprocessableEntity)
		return
	}
	defer C.upright_string_free(json)
	io.WriteString(answer, C.GoString(json))
}

func main() { log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(probe))) }
