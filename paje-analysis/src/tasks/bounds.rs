//! Lower bounds on the makespan of a run of tasks.
//!
//! The *critical-path bound* is the longest chain of dependent tasks, each with the mean time of its type on the fastest
//! kind of worker. The *area bound* ignores dependencies: it distributes the tasks of each type over the kinds of workers
//! in fractions, so that the busiest kind ends as early as possible. This linear program is that of Agullo, Beaumont,
//! Eyraud-Dubois, Kumar: *Are static schedules so bad? A case study on Cholesky factorization* (2016).

use super::TaskRun;

/// Bounds on the makespan, in the trace's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Time that the workers need for all tasks without dependencies.
    pub area: f64,
    /// For each kind of worker, by how much the area bound grows with the time that one worker loses. The sum over all
    /// workers is 1.
    pub prices: Vec<f64>,
    /// Time of the longest chain of dependent tasks.
    pub path: f64,
    /// Number of executed tasks in this chain.
    pub chain: usize,
}

impl Bounds {
    pub(super) fn new(run: &TaskRun<'_>) -> Self {
        let kinds = run.kinds.len();
        let means = |at: usize| (0..kinds).map(|kind| run.types[at].mean(kind)).collect();
        let types = (0..run.types.len()).map(|at| (run.types[at].count() as f64, means(at)));
        let types: Vec<(f64, Vec<Option<f64>>)> = types.collect();
        let workers: Vec<f64> = run.workers_by_kind().into_iter().map(f64::from).collect();
        // End and length of the longest chain to each task.
        let mut chains = vec![(0.0, 0); run.tasks.len()];
        let longer = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
        for at in run.order() {
            let before = run.before(*at).iter().map(|before| chains[*before as usize]);
            let (start, length) = before.fold((0.0, 0), longer);
            if let Some(it) = run.tasks[*at as usize].execution {
                let time = run.types[it.type_ as usize].fastest();
                chains[*at as usize] = (start + time, length + 1);
            } else {
                chains[*at as usize] = (start, length);
            }
        }
        let (path, chain) = chains.into_iter().fold((0.0, 0), longer);
        let (area, prices) = area(&types, &workers).unwrap_or_else(|| (0.0, vec![0.0; kinds]));
        Bounds { area, prices, path, chain }
    }

    /// Returns the larger bound.
    pub(crate) fn best(&self) -> f64 {
        self.area.max(self.path)
    }
}

/// Returns the area bound and the prices of the kinds of workers. `types` has the number of tasks of each type and their time on each kind of worker, and
/// `workers` the number of workers of each kind. Returns `None` if no worker fits a type.
///
/// The dual program sets a price for the time of each kind. A task goes to the kind on which it is cheapest, and the
/// total price is a lower bound. Each assignment of the tasks limits the total price for all prices. The search takes
/// the best prices under the limits known so far, and adds the limit of the cheapest assignment for them.
#[must_use]
pub fn area(types: &[(f64, Vec<Option<f64>>)], workers: &[f64]) -> Option<(f64, Vec<f64>)> {
    let fits = |kind: usize, time: Option<f64>| time.filter(|_| workers[kind] > 0.0);
    let total: f64 = workers.iter().sum();
    let mut prices = vec![1.0 / total; workers.len()];
    let mut best = (0.0_f64, Vec::<f64>::new());
    let mut limits = Vec::new();
    loop {
        let mut load = vec![0.0; workers.len()];
        for (count, times) in types {
            let times = times.iter().enumerate();
            let fitting = times.filter_map(|(kind, time)| Some((kind, fits(kind, *time)?)));
            let (kind, time) =
                fitting.min_by(|a, b| (prices[a.0] * a.1).total_cmp(&(prices[b.0] * b.1)))?;
            load[kind] += count * time;
        }
        let price: f64 = load.iter().zip(&prices).map(|(load, price)| load * price).sum();
        if price > best.0 || best.1.is_empty() {
            best = (price, prices);
        }
        limits.push(load);
        let (limit, next) = best_prices(&limits, workers);
        if limit <= best.0 * (1.0 + 1e-12) || limits.len() > 1000 {
            return Some(best);
        }
        prices = next;
    }
}

/// Returns the highest total price under these limits, and its prices. The time of all workers together costs 1.
fn best_prices(limits: &[Vec<f64>], workers: &[f64]) -> (f64, Vec<f64>) {
    // Variables: the total price, and the price of each kind. The last column has the right-hand sides.
    let kinds = workers.len();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(limits.len() + 1);
    for limit in limits {
        let prices = limit.iter().map(|load| -load);
        rows.push([1.0].into_iter().chain(prices).chain([0.0]).collect());
    }
    rows.push([0.0].into_iter().chain(workers.iter().copied()).chain([1.0]).collect());
    let mut gain: Vec<f64> = [1.0].into_iter().chain(vec![0.0; kinds + 1]).collect();
    // The variable of each column and row; slack variables have numbers above `kinds`.
    let mut columns: Vec<usize> = (0..=kinds).collect();
    let mut basis: Vec<usize> = (0..rows.len()).map(|row| kinds + 1 + row).collect();
    // Simplex method with Bland's rule, which never cycles.
    loop {
        let gains = (0..=kinds).filter(|column| gain[*column] > 1e-12);
        let Some(enter) = gains.min_by_key(|column| columns[*column]) else { break };
        let ratio = |row: &usize| rows[*row][kinds + 1] / rows[*row][enter];
        let leave = (0..rows.len())
            .filter(|row| rows[*row][enter] > 1e-12)
            .min_by(|a, b| ratio(a).total_cmp(&ratio(b)).then(basis[*a].cmp(&basis[*b])));
        let Some(leave) = leave else { break };
        let pivot = rows[leave][enter];
        let mut scaled = rows[leave].clone();
        scaled.iter_mut().for_each(|cell| *cell /= pivot);
        scaled[enter] = 1.0 / pivot;
        for row in (0..rows.len()).filter(|row| *row != leave) {
            eliminate(&mut rows[row], &scaled, enter);
        }
        eliminate(&mut gain, &scaled, enter);
        rows[leave] = scaled;
        std::mem::swap(&mut columns[enter], &mut basis[leave]);
    }
    let mut values = vec![0.0; kinds + 1];
    for (row, variable) in rows.iter().zip(&basis).filter(|(_, variable)| **variable <= kinds) {
        values[*variable] = row[kinds + 1];
    }
    (values[0], values.split_off(1))
}

/// Subtracts the row of the entering variable from another row.
fn eliminate(row: &mut [f64], scaled: &[f64], enter: usize) {
    let factor = std::mem::take(&mut row[enter]);
    for (cell, pivot) in row.iter_mut().zip(scaled) {
        *cell -= factor * pivot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<(f64, Vec<f64>)>, b: f64) {
        let a = found.map(|it| it.0);
        assert!(a.is_some_and(|a| (a - b).abs() <= 1e-9 * b.abs()), "{a:?} {b}");
    }

    #[test]
    fn known_area_bounds() {
        close(area(&[(12.0, vec![Some(2.0)])], &[3.0]), 8.0);
        // Tasks take 1 s on one GPU or 4 s on four CPUs: both get half of the tasks.
        close(area(&[(10.0, vec![Some(4.0), Some(1.0)])], &[4.0, 1.0]), 5.0);
        // The second type only fits the CPU.
        let types = [(10.0, vec![Some(4.0), Some(1.0)]), (3.0, vec![Some(2.0), None])];
        close(area(&types, &[1.0, 1.0]), 9.2);
        // Three kinds, each the only one for a type.
        let alone = |kind: usize, time: f64| {
            let mut times = vec![None; 3];
            times[kind] = Some(time);
            (1.0, times)
        };
        close(area(&[alone(0, 1.0), alone(1, 6.0), alone(2, 3.0)], &[1.0, 2.0, 1.0]), 3.0);
        let prices = |types: &[_], workers: &[_]| area(types, workers).map(|it| it.1);
        assert_eq!(prices(&[(12.0, vec![Some(2.0)])], &[3.0]), Some(vec![1.0 / 3.0]));
        // The CPU cannot execute the tasks, so its time is worth nothing.
        assert_eq!(prices(&[(10.0, vec![None, Some(1.0)])], &[4.0, 2.0]), Some(vec![0.0, 0.5]));
        assert_eq!(area(&[alone(0, 1.0)], &[0.0, 1.0, 1.0]), None);
        close(area(&[(6.0, vec![Some(1.0), Some(2.0), Some(3.0)])], &[1.0, 1.0, 1.0]), 36.0 / 11.0);
    }
}
