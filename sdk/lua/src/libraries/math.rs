//! The library `math`. It has no random numbers, because equal objects get equal verdicts.

use super::Arguments;
use crate::error::Failure;
use crate::machine::modulo;
use crate::value::Builtin;

/// Calls a function with one result. `None` if the function is not one of those.
pub(super) fn call(
    arguments: &mut Arguments<'_, '_>,
    builtin: Builtin,
) -> Result<Option<f64>, Failure> {
    let one: fn(f64) -> f64 = match builtin {
        Builtin::MathAbs => f64::abs,
        Builtin::MathAcos => f64::acos,
        Builtin::MathAsin => f64::asin,
        Builtin::MathAtan => f64::atan,
        Builtin::MathCeil => f64::ceil,
        Builtin::MathCos => f64::cos,
        Builtin::MathCosh => f64::cosh,
        Builtin::MathDeg => f64::to_degrees,
        Builtin::MathExp => f64::exp,
        Builtin::MathFloor => f64::floor,
        Builtin::MathLog => f64::ln,
        Builtin::MathLog10 => f64::log10,
        Builtin::MathRad => f64::to_radians,
        Builtin::MathSin => f64::sin,
        Builtin::MathSinh => f64::sinh,
        Builtin::MathSqrt => f64::sqrt,
        Builtin::MathTan => f64::tan,
        Builtin::MathTanh => f64::tanh,
        _ => return call_with_two(arguments, builtin),
    };
    Ok(Some(one(arguments.number(1)?)))
}

fn call_with_two(
    arguments: &mut Arguments<'_, '_>,
    builtin: Builtin,
) -> Result<Option<f64>, Failure> {
    let two: fn(f64, f64) -> f64 = match builtin {
        Builtin::MathAtan2 => f64::atan2,
        Builtin::MathFmod => |left, right| left % right,
        Builtin::MathLdexp => |value, exponent| value * exponent.trunc().exp2(),
        Builtin::MathMod => modulo,
        Builtin::MathPow => f64::powf,
        Builtin::MathMax => return extreme(arguments, |value, best| value > best),
        Builtin::MathMin => return extreme(arguments, |value, best| value < best),
        _ => return Ok(None),
    };
    Ok(Some(two(arguments.number(1)?, arguments.number(2)?)))
}

fn extreme(
    arguments: &mut Arguments<'_, '_>,
    is_better: fn(f64, f64) -> bool,
) -> Result<Option<f64>, Failure> {
    let mut best = arguments.number(1)?;
    for position in 2..=arguments.count() {
        let value = arguments.number(position)?;
        if is_better(value, best) {
            best = value;
        }
    }
    Ok(Some(best))
}

/// Calls a function with two results.
pub(super) fn call_for_two(
    arguments: &mut Arguments<'_, '_>,
    builtin: Builtin,
) -> Result<(), Failure> {
    let value = arguments.number(1)?;
    let (first, second) = if builtin == Builtin::MathModf {
        (value.trunc(), value - value.trunc())
    } else {
        parts(value)
    };
    arguments.give_number(first);
    arguments.give_number(second);
    Ok(())
}

/// A fraction from 0.5 to 1 and an exponent of two.
fn parts(value: f64) -> (f64, f64) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0.0);
    }
    let mut exponent = value.abs().log2().floor() + 1.0;
    let mut fraction = value / exponent.exp2();
    if fraction.abs() >= 1.0 {
        fraction /= 2.0;
        exponent += 1.0;
    } else if fraction.abs() < 0.5 {
        fraction *= 2.0;
        exponent -= 1.0;
    }
    (fraction, exponent)
}
