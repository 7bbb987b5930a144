use hueshift::prelude::*;

/// What is to be done with numbers.
#[derive(Clone, Copy)]
pub enum Job {
    Add { what: i64 },
    Scale { by: i64, up_to: i64 },
}

/// Does one job to every number. Gives how many there are.
pub fn all(job: Job, numbers: &mut [i64]) -> usize {
    let job = promote_tag(job);
    let mut i = 0;
    while i < numbers.len() {
        match job {
            Job::Add { what } => numbers[i] += what,
            Job::Scale { by, up_to } => {
                if numbers[i] <= up_to {
                    numbers[i] *= by;
                }
            }
        }
        i += 1;
    }
    i
}
