//! The enumerations of OTF2, with the names that `otf2-print` prints for their values.

use std::sync::OnceLock;

/// An enumeration.
#[derive(Debug)]
pub struct Enumeration {
    /// Name.
    pub name: &'static str,
    /// Whether its values can be combined: bit `n` is the name `n`.
    pub flags: bool,
    values: &'static str,
    /// Names of the values, separated by blanks.
    names: OnceLock<Vec<&'static str>>,
}

impl Enumeration {
    /// Returns the name of a value, or of a bit.
    #[must_use]
    pub fn get(&self, value: u64) -> Option<&'static str> {
        if self.name == "MetricMode" {
            return metric_mode(value);
        }
        let names = self.names.get_or_init(|| self.values.split(' ').collect());
        names.get(usize::try_from(value).ok()?).copied()
    }
}

fn metric_mode(value: u64) -> Option<&'static str> {
    let timing = usize::try_from(value >> 4).ok()?;
    let names = match value & 15 {
        0 => ["ACCUMULATED_START", "ACCUMULATED_POINT", "ACCUMULATED_LAST", "ACCUMULATED_NEXT"],
        1 => ["", "ABSOLUTE_POINT", "ABSOLUTE_LAST", "ABSOLUTE_NEXT"],
        2 => ["", "RELATIVE_POINT", "RELATIVE_LAST", "RELATIVE_NEXT"],
        _ => return None,
    };
    names.get(timing).copied().filter(|name| !name.is_empty())
}

/// Returns the enumeration of a name.
pub(crate) fn named(name: &str) -> Option<&'static Enumeration> {
    ALL.iter().find(|it| it.name == name)
}

const fn one(name: &'static str, values: &'static str) -> Enumeration {
    Enumeration { name, flags: false, values, names: OnceLock::new() }
}

const fn flags(name: &'static str, values: &'static str) -> Enumeration {
    Enumeration { name, flags: true, values, names: OnceLock::new() }
}

static ALL: [Enumeration; 38] = [
    one(
        "Paradigm",
        "UNKNOWN USER COMPILER OPENMP MPI CUDA MEASUREMENT_SYSTEM PTHREAD HMPP OMPSS HARDWARE GASPI UPC SHMEM \
         WINTHREAD QTTHREAD ACETHREAD TBBTHREAD OPENACC OPENCL MTAPI SAMPLING NONE HIP KOKKOS OPENMP_TARGET",
    ),
    one("ParadigmClass", "PROCESS THREAD_FORK_JOIN THREAD_CREATE_WAIT ACCELERATOR"),
    one("ParadigmProperty", "COMM_NAME_TEMPLATE RMA_WIN_NAME_TEMPLATE RMA_ONLY"),
    one("LocationType", "UNKNOWN CPU_THREAD ACCELERATOR_STREAM METRIC"),
    one("LocationGroupType", "UNKNOWN PROCESS ACCELERATOR"),
    one(
        "RegionRole",
        "UNKNOWN FUNCTION WRAPPER LOOP CODE PARALLEL SECTIONS SECTION WORKSHARE SINGLE SINGLE_SBLOCK MASTER CRITICAL \
         CRITICAL_SBLOCK ATOMIC BARRIER IMPLICIT_BARRIER FLUSH ORDERED ORDERED_SBLOCK TASK TASK_CREATE TASK_WAIT \
         COLL_ONE2ALL COLL_ALL2ONE COLL_ALL2ALL COLL_OTHER FILE_IO POINT2POINT RMA DATA_TRANSFER ARTIFICIAL \
         THREAD_CREATE THREAD_WAIT TASK_UNTIED ALLOCATE DEALLOCATE REALLOCATE FILE_IO_METADATA CANCEL KERNEL",
    ),
    flags("RegionFlag", "DYNAMIC PHASE"),
    one(
        "CollectiveOp",
        "BARRIER BCAST GATHER GATHERV SCATTER SCATTERV ALLGATHER ALLGATHERV ALLTOALL ALLTOALLV ALLTOALLW ALLREDUCE \
         REDUCE REDUCE_SCATTER SCAN EXSCAN REDUCE_SCATTER_BLOCK CREATE_HANDLE DESTROY_HANDLE ALLOCATE DEALLOCATE \
         CREATE_HANDLE_AND_ALLOCATE DESTROY_HANDLE_AND_DEALLOCATE",
    ),
    one("MetricType", "OTHER PAPI RUSAGE USER"),
    one("MetricMode", ""),
    one("Base", "BINARY DECIMAL"),
    one("MetricOccurrence", "SYNCHRONOUS_STRICT SYNCHRONOUS ASYNCHRONOUS"),
    one("MetricScope", "LOCATION LOCATION_GROUP SYSTEM_TREE_NODE GROUP"),
    one("RecorderKind", "UNKNOWN ABSTRACT CPU GPU"),
    one("MeasurementMode", "INVALID ON OFF"),
    one("ParameterType", "STRING INT64 UINT64"),
    one(
        "SystemTreeDomain",
        "MACHINE SHARED_MEMORY NUMA SOCKET CACHE CORE PU ACCELERATOR_DEVICE NETWORKING_DEVICE",
    ),
    flags("CommFlag", "CREATE_DESTROY_EVENTS"),
    flags("RmaWinFlag", "CREATE_DESTROY_EVENTS"),
    one("InterruptGeneratorMode", "TIME COUNT"),
    flags("RmaSyncLevel", "PROCESS MEMORY"),
    one("RmaSyncType", "MEMORY NOTIFY_IN NOTIFY_OUT"),
    one(
        "RmaAtomicType",
        "ACCUMULATE INCREMENT TEST_AND_SET COMPARE_AND_SWAP SWAP FETCH_AND_ADD FETCH_AND_INCREMENT \
         FETCH_AND_ACCUMULATE",
    ),
    one("LockType", "EXCLUSIVE SHARED"),
    one("IoParadigmClass", "SERIAL PARALLEL"),
    flags("IoParadigmFlag", "OS"),
    one("IoParadigmProperty", "VERSION"),
    flags("IoHandleFlag", "PRE_CREATED ALL_PROXY"),
    one("IoAccessMode", "READ_ONLY WRITE_ONLY READ_WRITE EXECUTE_ONLY SEARCH_ONLY"),
    flags(
        "IoCreationFlag",
        "CREATE TRUNCATE DIRECTORY EXCLUSIVE NO_CONTROLLING_TERMINAL NO_FOLLOW PATH TEMPORARY_FILE LARGEFILE NO_SEEK \
         UNIQUE",
    ),
    flags(
        "IoStatusFlag",
        "CLOSE_ON_EXEC APPEND NON_BLOCKING ASYNC SYNC DATA_SYNC AVOID_CACHING NO_ACCESS_TIME DELETE_ON_CLOSE",
    ),
    one("IoSeekOption", "FROM_START FROM_CURRENT FROM_END DATA HOLE"),
    one("IoOperationMode", "READ WRITE FLUSH"),
    flags("IoOperationFlag", "NON_BLOCKING COLLECTIVE"),
    one(
        "GroupType",
        "UNKNOWN LOCATIONS REGIONS METRIC COMM_LOCATIONS COMM_GROUP COMM_SELF COMM_LOCATION_GROUPS",
    ),
    flags("GroupFlag", "GLOBAL_MEMBERS"),
    one("CartPeriodicity", "FALSE TRUE"),
    one(
        "Type",
        "NONE UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FLOAT DOUBLE STRING ATTRIBUTE LOCATION REGION GROUP \
         METRIC COMM PARAMETER RMA_WIN SOURCE_CODE_LOCATION CALLING_CONTEXT INTERRUPT_GENERATOR IO_FILE IO_HANDLE \
         LOCATION_GROUP",
    ),
];
