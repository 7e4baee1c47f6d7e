#include <iostream>

#include "bandgp/bandgp.hpp"

int main() { std::cout << bandgp::version() << '\n'; }
