rm -rf x
# BEGIN
moor --fast
# END
