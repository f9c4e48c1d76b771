// Decimal fractions out of text, rounded correctly to double, whatever the locale: by the standard
// library. Runs of them, the columns of features, are read by `fraction_run`.
#pragma once

namespace graphmount {

/// Reads a number at `text`, which ends before `end`: [+-] digits [. digits] [e [+-] digits].
/// Returns where it ends, or nullptr if there is none. Infinite, or 0, if double cannot hold it.
const char* read_decimal(const char* text, const char* end, double& value);

/// The same with strtod, for standard libraries whose from_chars knows no floats.
const char* read_decimal_by_strtod(const char* text, const char* end, double& value);

/// Reads what is no number and yet a float: nan, inf or infinity, in any case, with a sign or not.
const char* read_named_float(const char* text, const char* end, double& value);

}  // namespace graphmount
