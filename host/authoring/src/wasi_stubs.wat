;; WASI preview 1 for interpreters, which are pure functions: no clock, no random source, no files, no network.
;;
;; Runtimes of languages import WASI, and the host of interpreters offers none. This adapter takes its place inside the
;; component. The time is 1 ns after the epoch (the runtime of Go refuses 0), random bytes are 0, output is dropped, there are no arguments, no environment and no files,
;; and an exit is a trap. Every other call answers `nosys`.
(module
  (import "env" "memory" (memory 0))

  ;; Error codes: 8 is `badf`, 52 is `nosys`.
  (func $nothing (param $count i32) (param $bytes i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $bytes) (i32.const 0))
    (i32.const 0))
  (func (export "args_sizes_get") (param i32 i32) (result i32) (call $nothing (local.get 0) (local.get 1)))
  (func (export "environ_sizes_get") (param i32 i32) (result i32) (call $nothing (local.get 0) (local.get 1)))
  (func (export "args_get") (param i32 i32) (result i32) (i32.const 0))
  (func (export "environ_get") (param i32 i32) (result i32) (i32.const 0))

  (func (export "clock_res_get") (param i32) (param $to i32) (result i32)
    (i64.store (local.get $to) (i64.const 1))
    (i32.const 0))
  (func (export "clock_time_get") (param i32 i64) (param $to i32) (result i32)
    (i64.store (local.get $to) (i64.const 1))
    (i32.const 0))
  (func (export "random_get") (param $to i32) (param $bytes i32) (result i32)
    (memory.fill (local.get $to) (i32.const 0) (local.get $bytes))
    (i32.const 0))
  (func (export "sched_yield") (result i32) (i32.const 0))

  ;; Takes all bytes of the vectors, and drops them.
  (func (export "fd_write") (param i32) (param $vectors i32) (param $count i32) (param $written i32) (result i32)
    (local $sum i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (i32.add (local.get $sum) (i32.load offset=4 (local.get $vectors))))
        (local.set $vectors (i32.add (local.get $vectors) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))
    (i32.store (local.get $written) (local.get $sum))
    (i32.const 0))

  (func (export "proc_exit") (param i32) (unreachable))
  (func (export "proc_raise") (param i32) (result i32) (unreachable))

  (func (export "fd_close") (param i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_flags") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_dir_name") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_read") (param i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 8))

  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_allocate") (param i32 i64 i64) (result i32) (i32.const 52))
  (func (export "fd_datasync") (param i32) (result i32) (i32.const 52))
  (func (export "fd_fdstat_set_rights") (param i32 i64 i64) (result i32) (i32.const 52))
  (func (export "fd_filestat_get") (param i32 i32) (result i32) (i32.const 52))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 52))
  (func (export "fd_filestat_set_times") (param i32 i64 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_pread") (param i32 i32 i32 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_pwrite") (param i32 i32 i32 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_renumber") (param i32 i32) (result i32) (i32.const 52))
  (func (export "fd_sync") (param i32) (result i32) (i32.const 52))
  (func (export "fd_tell") (param i32 i32) (result i32) (i32.const 52))
  (func (export "path_create_directory") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_filestat_get") (param i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 52))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 52))
  (func (export "path_readlink") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_remove_directory") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_rename") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_symlink") (param i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_unlink_file") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "poll_oneoff") (param i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_accept") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_recv") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_send") (param i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_shutdown") (param i32 i32) (result i32) (i32.const 52))
)
