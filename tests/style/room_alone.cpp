// The program that a room is linked into with the libraries that it may use: the link is the check.
int main() { return 0; }
