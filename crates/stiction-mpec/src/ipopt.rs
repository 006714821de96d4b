//! Interface to Ipopt through its C API: five callbacks and four functions.

// The only file that calls foreign code.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    slice,
    sync::Mutex,
};

use crate::{EngineOptions, MpecError, Nlp, Run, RunStatus};

#[link(name = "ipopt")]
unsafe extern "C" {
    fn CreateIpoptProblem(
        n: c_int,
        x_low: *mut f64,
        x_high: *mut f64,
        m: c_int,
        g_low: *mut f64,
        g_high: *mut f64,
        jacobian: c_int,
        hessian: c_int,
        index_style: c_int,
        f: Objective,
        g: Constraints,
        gradient: Gradient,
        jacobian_of: Jacobian,
        hessian_of: Hessian,
    ) -> *mut c_void;
    fn FreeIpoptProblem(problem: *mut c_void);
    fn AddIpoptStrOption(problem: *mut c_void, name: *const c_char, value: *const c_char) -> c_int;
    fn AddIpoptNumOption(problem: *mut c_void, name: *const c_char, value: f64) -> c_int;
    fn AddIpoptIntOption(problem: *mut c_void, name: *const c_char, value: c_int) -> c_int;
    fn SetIntermediateCallback(problem: *mut c_void, callback: Intermediate) -> c_int;
    fn IpoptSolve(
        problem: *mut c_void,
        x: *mut f64,
        g: *mut f64,
        objective: *mut f64,
        multipliers: *mut f64,
        lower: *mut f64,
        upper: *mut f64,
        user: *mut c_void,
    ) -> c_int;
}

type Objective = unsafe extern "C" fn(c_int, *const f64, c_int, *mut f64, *mut c_void) -> c_int;
type Gradient = unsafe extern "C" fn(c_int, *const f64, c_int, *mut f64, *mut c_void) -> c_int;
type Constraints = unsafe extern "C" fn(c_int, *const f64, c_int, c_int, *mut f64, *mut c_void) -> c_int;
type Jacobian = unsafe extern "C" fn(
    c_int,
    *const f64,
    c_int,
    c_int,
    c_int,
    *mut c_int,
    *mut c_int,
    *mut f64,
    *mut c_void,
) -> c_int;
type Hessian = unsafe extern "C" fn(
    c_int,
    *const f64,
    c_int,
    f64,
    c_int,
    *const f64,
    c_int,
    c_int,
    *mut c_int,
    *mut c_int,
    *mut f64,
    *mut c_void,
) -> c_int;
type Intermediate =
    unsafe extern "C" fn(c_int, c_int, f64, f64, f64, f64, f64, f64, f64, f64, c_int, *mut c_void) -> c_int;

/// Data of the callbacks. Panics must not cross the C boundary: elements return errors, and Rust aborts on a panic.
struct User<'n, 'p> {
    nlp: &'n Nlp<'p>,
    iterations: u32,
}

/// # Safety
/// `user` is the pointer given to `IpoptSolve`, which outlives the call; arrays have the lengths that Ipopt states with them, which are
/// those it was created with.
unsafe fn user<'a>(user: *mut c_void) -> &'a mut User<'a, 'a> {
    unsafe { &mut *user.cast() }
}

/// # Safety
/// As above.
unsafe fn read<'a>(x: *const f64, n: c_int) -> &'a [f64] {
    if x.is_null() { &[] } else { unsafe { slice::from_raw_parts(x, length(n)) } }
}

/// # Safety
/// As above.
unsafe fn write<'a, T>(x: *mut T, n: c_int) -> &'a mut [T] {
    if x.is_null() { &mut [] } else { unsafe { slice::from_raw_parts_mut(x, length(n)) } }
}

fn length(n: c_int) -> usize {
    usize::try_from(n).unwrap_or(0)
}

unsafe extern "C" fn objective(n: c_int, x: *const f64, _: c_int, out: *mut f64, data: *mut c_void) -> c_int {
    let value = unsafe { user(data).nlp.objective(read(x, n)) };
    unsafe { *out = value };
    c_int::from(value.is_finite())
}

unsafe extern "C" fn gradient(n: c_int, x: *const f64, _: c_int, out: *mut f64, data: *mut c_void) -> c_int {
    unsafe { user(data).nlp.gradient(read(x, n), write(out, n)) };
    1
}

unsafe extern "C" fn constraints(
    n: c_int,
    x: *const f64,
    _: c_int,
    m: c_int,
    out: *mut f64,
    data: *mut c_void,
) -> c_int {
    c_int::from(unsafe { user(data).nlp.values(read(x, n), write(out, m)) }.is_ok())
}

unsafe extern "C" fn jacobian(
    n: c_int,
    x: *const f64,
    _: c_int,
    _: c_int,
    count: c_int,
    rows: *mut c_int,
    columns: *mut c_int,
    out: *mut f64,
    data: *mut c_void,
) -> c_int {
    unsafe {
        let nlp = user(data).nlp;
        if out.is_null() {
            return pattern(nlp.jacobian_pattern(), write(rows, count), write(columns, count));
        }
        c_int::from(nlp.jacobian(read(x, n), write(out, count)).is_ok())
    }
}

unsafe extern "C" fn hessian(
    n: c_int,
    x: *const f64,
    _: c_int,
    factor: f64,
    m: c_int,
    multipliers: *const f64,
    _: c_int,
    count: c_int,
    rows: *mut c_int,
    columns: *mut c_int,
    out: *mut f64,
    data: *mut c_void,
) -> c_int {
    unsafe {
        let nlp = user(data).nlp;
        if out.is_null() {
            return pattern(nlp.hessian_pattern(), write(rows, count), write(columns, count));
        }
        c_int::from(nlp.hessian(read(x, n), factor, read(multipliers, m), write(out, count)).is_ok())
    }
}

#[allow(clippy::too_many_arguments, reason = "Ipopt's own list")]
unsafe extern "C" fn count(
    _: c_int,
    iteration: c_int,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: f64,
    _: c_int,
    data: *mut c_void,
) -> c_int {
    unsafe { user(data) }.iterations = u32::try_from(iteration).unwrap_or(0);
    1
}

fn pattern(entries: &[(usize, usize)], rows: &mut [c_int], columns: &mut [c_int]) -> c_int {
    for ((entry, row), column) in entries.iter().zip(rows).zip(columns) {
        (*row, *column) = (whole(entry.0), whole(entry.1));
    }
    1
}

fn whole(n: usize) -> c_int {
    c_int::try_from(n).unwrap_or(c_int::MAX)
}

/// Lock for one solve at a time, because the linear solver of Ipopt has global state.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Solves a program.
pub(crate) fn run(nlp: &Nlp, options: &EngineOptions, from: Option<&Run>) -> Result<Run, MpecError> {
    let _alone = ONE_AT_A_TIME.lock();
    let (n, m) = (nlp.variables(), nlp.constraints());
    let ((mut low, mut high), (mut g_low, mut g_high)) = (nlp.bounds(), nlp.constraint_bounds());
    for bounds in [&mut low, &mut high, &mut g_low, &mut g_high] {
        for bound in bounds.iter_mut() {
            *bound = bound.clamp(-2e19, 2e19);
        }
    }
    // SAFETY: the arrays have the lengths that are stated; Ipopt copies them.
    let problem = unsafe {
        CreateIpoptProblem(
            whole(n),
            low.as_mut_ptr(),
            high.as_mut_ptr(),
            whole(m),
            g_low.as_mut_ptr(),
            g_high.as_mut_ptr(),
            whole(nlp.jacobian_pattern().len()),
            whole(nlp.hessian_pattern().len()),
            0,
            objective,
            constraints,
            gradient,
            jacobian,
            hessian,
        )
    };
    if problem.is_null() {
        return Err(MpecError::Engine { reason: "Ipopt refuses the sizes or bounds of the program".into() });
    }
    set_options(problem, options, from.is_some());
    let mut x = from.map_or_else(|| nlp.start().to_vec(), |run| run.x.clone());
    let mut multipliers = from.map_or_else(|| vec![0.0; m], |run| run.multipliers.clone());
    let (mut lower, mut upper) = from.map_or_else(|| (vec![0.0; n], vec![0.0; n]), |run| run.bounds.clone());
    multipliers.resize(m, 0.0);
    let mut user = User { nlp, iterations: 0 };
    // SAFETY: all arrays have the lengths of the problem, `user` lives until the call returns, and only this thread is in Ipopt.
    let status = unsafe {
        SetIntermediateCallback(problem, count);
        let status = IpoptSolve(
            problem,
            x.as_mut_ptr(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            multipliers.as_mut_ptr(),
            lower.as_mut_ptr(),
            upper.as_mut_ptr(),
            (&raw mut user).cast(),
        );
        FreeIpoptProblem(problem);
        status
    };
    // Status numbers of IpReturnCodes.h; 6 is a feasible point of a square problem, -4 is the time limit.
    let status = match status {
        0 | 6 => RunStatus::Solved,
        1 => RunStatus::Acceptable,
        -4 => RunStatus::OutOfTime,
        other => RunStatus::Failed(other),
    };
    Ok(Run { x, multipliers, bounds: (lower, upper), status, iterations: user.iterations })
}

fn set_options(problem: *mut c_void, options: &EngineOptions, warm: bool) {
    let text = |name: &CStr, value: &CStr| unsafe { AddIpoptStrOption(problem, name.as_ptr(), value.as_ptr()) };
    let number = |name: &CStr, value: f64| unsafe { AddIpoptNumOption(problem, name.as_ptr(), value) };
    let whole = |name: &CStr, value: c_int| unsafe { AddIpoptIntOption(problem, name.as_ptr(), value) };
    whole(c"print_level", c_int::from(options.print_level));
    text(c"sb", c"yes");
    number(c"tol", options.tolerance);
    number(c"constr_viol_tol", options.tolerance.min(1e-8));
    number(c"acceptable_tol", options.tolerance.max(1e-6));
    whole(c"max_iter", c_int::try_from(options.iterations).unwrap_or(c_int::MAX));
    if let Some(seconds) = options.seconds {
        number(c"max_cpu_time", seconds.max(f64::MIN_POSITIVE));
    }
    // Bounds are satisfied exactly.
    number(c"bound_relax_factor", 0.0);
    number(c"mu_init", options.barrier);
    if warm {
        text(c"warm_start_init_point", c"yes");
        for name in [
            c"warm_start_bound_push",
            c"warm_start_bound_frac",
            c"warm_start_slack_bound_push",
            c"warm_start_slack_bound_frac",
            c"warm_start_mult_bound_push",
        ] {
            number(name, options.barrier.min(1e-6));
        }
    } else {
        text(c"mu_strategy", c"adaptive");
    }
}
