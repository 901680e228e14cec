//! The lines of `-p`: what each lane of a type was doing between two times.
