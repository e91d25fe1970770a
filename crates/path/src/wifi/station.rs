//! One radio's side of the DCF.
