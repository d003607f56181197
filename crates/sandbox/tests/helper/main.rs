//! The tests' second process.
//!
//! `host` plays the app: it starts one cage and reports its end, so that tests can kill it or run it as another
//! user. `attack` plays the command: it tries everything a caged command must not be able to do, one line each.
//! `probe` prints what this machine can do. Not shipped.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test program: it reports on standard output"
)]

#[cfg(target_os = "linux")]
mod attack;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "attacks are system calls with arguments no wrapper would pass")]
mod privileges;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write, stdout};
use std::net::TcpListener;
use std::path::PathBuf;

use sandbox::{CommandSpec, Floor, Mechanism, Profile, WriteAccess};

fn main() {
    let mut args = std::env::args_os().skip(1);
    match args.next().unwrap().to_str().unwrap() {
        "probe" => probe(),
        "host" => host(args),
        #[cfg(target_os = "linux")]
        "attack" => attack::run(&args.map(|arg| arg.into_string().unwrap()).collect::<Vec<_>>()),
        other => panic!("unknown mode {other}"),
    }
}

/// Prints one line for each mechanism, the choice and the strength.
fn probe() {
    let report = sandbox::probe();
    for (mechanism, tried) in &report.tried {
        println!("{}: {tried:?}", mechanism.name());
    }
    println!("chosen: {:?}\nstrength: {:?}", report.chosen, report.strength);
}

/// `host HOW WRITE WORKDIR [--ro P] [--rw P] [--hide P] [--env K=V] [--proxy] -- PROGRAM ARGS…`
fn host(mut args: impl Iterator<Item = OsString>) {
    let how = args.next().unwrap().into_string().unwrap();
    let write = args.next().unwrap();
    let mut profile = Profile::for_folder(PathBuf::from(args.next().unwrap()));
    profile.write = if write == "plan" { WriteAccess::None } else { WriteAccess::Folder };
    let mut env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    while let Some(option) = args.next() {
        let mut value = || args.next().unwrap();
        match option.to_str().unwrap() {
            "--ro" => profile.read_only.push(value().into()),
            "--rw" => profile.read_write.push(value().into()),
            "--hide" => profile.hide.push(value().into()),
            "--processes" => profile.limits.processes = value().to_str().unwrap().parse().unwrap(),
            "--file-size" => profile.limits.file_size_bytes = value().to_str().unwrap().parse().unwrap(),
            "--memory" => profile.limits.memory_bytes = value().to_str().unwrap().parse().unwrap(),
            "--total-memory" => {
                profile.limits.total_memory_bytes = value().to_str().unwrap().parse().unwrap()
            }
            "--cpu" => profile.limits.cpu_s = value().to_str().unwrap().parse().unwrap(),
            "--proxy" => profile.network = sandbox::Network::Proxy,
            "--env" => {
                let pair = value().into_string().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                env.push((name.into(), value.into()));
            }
            "--" => break,
            other => panic!("unknown option {other}"),
        }
    }
    let command = CommandSpec { program: args.next().unwrap().into(), args: args.collect(), env };
    let started = match how.as_str() {
        "uncaged" => sandbox::spawn_uncaged(&profile.workdir, &command),
        "best" => sandbox::spawn(&profile, &command, Floor::Partial),
        name => {
            let mechanism = Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == name).unwrap();
            sandbox::spawn_in(mechanism, &profile, &command)
        }
    };
    let mut caged = match started {
        Ok(caged) => caged,
        Err(error) => {
            println!("refused: {error}");
            return;
        }
    };
    println!("stands");
    stdout().flush().unwrap();
    if let Some(proxy) = caged.proxy.take() {
        std::thread::spawn(move || echo_requests(&proxy));
    }
    let mut output = caged.stdout.take().unwrap();
    let mut errors = caged.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::copy(&mut errors, &mut bytes).unwrap();
        bytes
    });
    std::io::copy(&mut output, &mut stdout()).unwrap();
    let end = caged.wait();
    stdout().write_all(&errors.join().unwrap()).unwrap();
    let names: Vec<_> = end.leftovers.iter().map(|one| one.name.as_str()).collect();
    println!("end: {:?} {names:?} +{}", end.exit, end.more_leftovers);
    if let Some(over) = end.over {
        println!("over: {over:?}");
    }
}

/// Plays a proxy that goes nowhere: answers each request with its own first line.
fn echo_requests(proxy: &TcpListener) {
    for connection in proxy.incoming().flatten() {
        let mut lines = BufReader::new(&connection).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        lines.take_while(|line| !line.is_empty()).for_each(drop);
        let body = format!("asked for {first}\n");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        // A client that left isn't our trouble.
        let _ = (&connection).write_all((head + &body).as_bytes());
    }
}
