"""What the words of a report mean, for readers who have not seen the project."""

WORDS = {
    "way": "A method: what was run, ours or a peer's.",
    "peer": "Another library, or a loop written by hand, that does the same work.",
    "GraphZero": "An earlier engine of this kind: version 0.2 on PyPI. It compiles CSV to files, "
    "maps them, and samples in C++.",
    "mapped loop, mapped tensor": "A matrix in a file that is mapped into memory (`mmap`) and "
    "indexed with torch; the system reads pages when they are touched.",
    "cold, warm": "Cold: what is read is only on the disk. Warm: it is already in the page cache.",
    "anonymous memory": "Memory of the process itself: heap and copies, without pages of files.",
    "memory=": "The option of loaders and compilers that limits how much memory they use.",
    "memory for 10 %": "The loader may use memory for a tenth of the features.",
    "limit": "The most memory that a control group allows a process, page cache included. `limit "
    "hits` is how often the system had to free memory for it.",
    "hot first": "Nodes are numbered by how often sampling meets them. `given` is the order of the "
    "source.",
    "window": "How many batches the loader samples ahead, to know which rows they will need.",
    "R-MAT, communities": "Two kinds of generated graphs. R-MAT has a few nodes with very many "
    "edges, and many nodes with none. The other has communities, moderate skew, and no such nodes.",
    "turns": "All processes are alive, and work one at a time, a few seconds each, many times.",
    "processor s": "Seconds of processor time, all cores added up.",
    "read per useful byte": "How many bytes the disk delivered for each byte that was asked for.",
}
