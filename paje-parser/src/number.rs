//! Temporary.
/// f64
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
/// f32
pub fn parse_f32(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
/// time
pub fn parse_time(text: &[u8]) -> Option<f64> {
    parse_f64(text).filter(|t| t.is_finite())
}
/// at
pub fn parse_f64_at(block: &[u8], start: usize, end: usize) -> Option<f64> {
    parse_f64(&block[start..end])
}
/// at
pub fn parse_f32_at(block: &[u8], start: usize, end: usize) -> Option<f32> {
    parse_f32(&block[start..end])
}
