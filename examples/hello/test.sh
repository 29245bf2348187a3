#!/bin/bash
# The first program prints the right result.
# usage: test.sh PROGRAM
set -eu
[ "$(timeout 60 "$1")" = "twice 21 is 42" ]
