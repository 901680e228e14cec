//! The program as it is called.
