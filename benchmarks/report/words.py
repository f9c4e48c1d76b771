"""What the words of a report mean, for readers who have not seen the project."""

WORDS = {
    "way": "A method: what was run, ours or a peer's.",
    "peer": "Another library, or the loop that one writes by hand, doing the same work.",
    "GraphZero": "An earlier engine of this kind: version 0.2 on PyPI. It compiles CSV to files, "
    "maps them, and samples in C++.",
    "mapped loop, mapped tensor": "A matrix in a file that is mapped into memory (`mmap`) and "
    "indexed with torch; the system reads pages as they are touched.",
    "cold, warm": "Whether what is read is only on the disk, or in the page cache already.",
    "anonymous memory": "Memory of the process itself: heap and copies, without pages of files.",
    "memory=": "The option of loaders and compilers that says how much memory they may use.",
    "memory for 10 %": "So much of the features fits into what the loader may use.",
    "limit": "What a control group allows a process, page cache included. `limit hits` is how "
    "often the system had to make room.",
    "hot first": "Nodes are numbered by how often sampling meets them; `given` is the order of the "
    "source.",
    "window": "How many batches the loader samples ahead, to know which rows they will want.",
    "R-MAT, communities": "Two families of generated graphs: one with few nodes that have very "
    "many edges, and many with none; one with communities, moderate skew, and none of these.",
    "turns": "Processes are all alive and work one at a time, a few seconds each, again and again.",
    "processor s": "Seconds of processor time, of all cores together.",
    "read per useful byte": "How many bytes the disk delivered for each byte that was asked for.",
}
