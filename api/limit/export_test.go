package limit

// LingerBytes is for tests.
const LingerBytes = lingerBytes
