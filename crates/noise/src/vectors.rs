//! The widest vectors the machine has, for loops that compilers vectorise by themselves.
//!
//! There are no intrinsics here: the same additions and multiplications, each rounded as IEEE 754 demands, are compiled
//! three times and one copy is chosen at run time. So every machine gives the same bits. Against the narrowest copy the
//! next takes two thirds of the time (AVX2), the widest less than half (AVX-512).

/// What this machine can run.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn of_this_machine() -> Self {
        use std::is_x86_feature_detected as has;
        if !(has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt")) {
            return Self::Portable;
        }
        let wide = has!("avx512f") && has!("avx512cd") && has!("avx512dq") && has!("avx512bw") && has!("avx512vl");
        if wide { Self::Avx512 } else { Self::Avx2 }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn of_this_machine() -> Self {
        Self::Portable
    }
}

/// Defines a function that is compiled for each [`Width`] and runs the copy for this machine.
macro_rules! for_the_widest_vectors {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty $body:block) => {
        $(#[$attribute])*
        #[inline]
        #[allow(unsafe_code)]
        $visibility fn $name($($argument: $type),*) -> $output {
            #[inline(always)]
            fn portable($($argument: $type),*) -> $output $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
            fn avx2($($argument: $type),*) -> $output {
                portable($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,avx512f,avx512cd,avx512dq,avx512bw,avx512vl")]
            fn avx512($($argument: $type),*) -> $output {
                portable($($argument),*)
            }
            match $crate::vectors::Width::of_this_machine() {
                $crate::vectors::Width::Portable => portable($($argument),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Width::Avx2` says that every feature enabled for `avx2` was detected on this machine.
                $crate::vectors::Width::Avx2 => unsafe { avx2($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Width::Avx512` says that every feature enabled for `avx512` was detected on this machine.
                $crate::vectors::Width::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    };
}
pub(crate) use for_the_widest_vectors;
