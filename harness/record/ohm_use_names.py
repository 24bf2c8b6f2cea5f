"""Names of calls, as far as they tell what becomes of a value that is passed to them (ohm_uses.py)."""

# Calls that end in text, a log, a plot, or what ohm sweep compares.
PRINTS = frozenset("""print pprint info debug warning warn error critical exception log log_metrics
    log_metric log_dict logged add_scalar add_scalars add_histogram write writelines writerow writerows
    set_postfix set_postfix_str set_description set_description_str dump display report track plot
    record_metric state update echo secho log_param push_to_logs show add_hparams add_pr_curve add_figure
    add_image add_images add_text add_row log_table log_histogram log_image log_artifact savefig imshow
    matshow heatmap set_title suptitle set_xlabel set_ylabel annotate errorbar fill_between axhline
    axvline save_image make_grid imsave imwrite write_video write_png write_jpeg""".split())
# Functions and methods that draw, of modules and variables of these names.
DRAWS = frozenset("scatter text title bar barh hist step table legend".split())
DRAWN_ON = frozenset("plt pyplot ax axes axs axis fig figure sns seaborn".split())
# Calls that make text of it, and those that read text.
MAKES_TEXT = frozenset("str repr format format_map substitute safe_substitute dumps join chr".split())
READS_TEXT = frozenset("""float int complex eval literal_eval loads fromstring Decimal Fraction getint getfloat
    getboolean""".split())
# Calls whose result is the value again, or is made of it.
DERIVES = frozenset("""int float bool abs round min max sum median fmean stdev pstdev std var
    list tuple sorted set item tolist cpu numpy detach mean exp log log2 log10 sqrt pow floor
    ceil isnan isinf isfinite divmod enumerate zip array asarray stack concatenate tensor
    as_tensor clone reversed get pop items values keys copy deepcopy index count reshape view
    flatten squeeze unsqueeze astype to double half long any all inverse_transform Counter
    bincount gauss normalvariate expovariate betavariate from_numpy FloatTensor DoubleTensor LongTensor IntTensor
    Tensor""".split())
# Calls that put it into what they are called on, and functions of NumPy that put it into their first argument.
COLLECTS = frozenset("append extend add insert appendleft setdefault put fill itemset".split())
PUTS = frozenset("copyto put place putmask at fill_diagonal put_along_axis".split())
# Of these, calls that give numbers which tell of themselves where theirs do, or that ask the source about the number
# (ohm_number_functions.py).
KEEPS_NUMBER = COLLECTS | frozenset("""abs divmod max min round sum sorted reversed enumerate zip list tuple set dict
    frozenset deque next iter pop popleft get items values copy deepcopy item tolist float int bool pow exp log log2
    log10 sqrt fsum prod mean fmean median stdev pstdev variance quantiles array asarray std var""".split())
# Modules of functions whose results are plain numbers, or arrays of them.
OF_NUMBERS = "math cmath numpy scipy statistics fractions decimal pandas sklearn.metrics".split()
# Calls that take the number, and give one that does not tell itself.
LOSES = frozenset("Decimal Fraction timedelta hash from_float".split())
# Calls that give what a file or a buffer holds.
GIVES_WRITTEN = frozenset(
    "read readline readlines getvalue getbuffer load loads safe_load reader DictReader".split())
# Calls that write files, and those that make what is written.
SAVES = frozenset("""save save_pretrained save_model save_file savez savez_compressed dump touch mkdir unlink seek
    truncate flush""".split())
MOVES = frozenset("seek truncate".split())  # of these, what says which part of a file is read or kept
SAVED = frozenset("state_dict join dict open Path joinpath unwrap_model get_rng_state asdict vars".split())
# Functions that change files, of modules of these names.
OF_FILES = frozenset("os shutil".split())
CHANGES_FILES = frozenset("""copy copy2 copyfile copytree link makedirs mkdir move remove rename replace rmtree symlink
    unlink""".split())
# Calls that set how wide text is.
ALIGNS = frozenset("ljust rjust center zfill".split())
# Attributes that are the array.
SAME_ARRAY = frozenset("flat T data real values".split())
# Calls that take it for a size.
SIZES = frozenset("""range zeros ones empty full rand randn randint arange linspace new_zeros new_ones
    new_empty new_full narrow split chunk view reshape expand repeat pad randperm eye one_hot
    repeat_interleave resize_ unflatten unfold interpolate islice tile broadcast_to topk array_split
    resize""".split())
# Calls that take a size first, and then a value.
FILLED = frozenset("full new_full full_like".split())
SIZE_KEYWORDS = frozenset("size shape".split())
# Keywords of operators and optimizers for numbers that they compute with.
FACTOR_KEYWORDS = frozenset("alpha value fill_value lr weight_decay".split())
# Attributes of an array that say how many elements it has, and others that tell nothing of its values.
HOW_MANY = frozenset("shape size numel nelement".split())
TELLS_NO_VALUE = HOW_MANY | frozenset("dtype device ndim dim".split())
# Calls that ask about a value, not for it.
ASKS_NO_VALUE = frozenset(
    "isinstance type hasattr callable id is_tensor len writer DictWriter load_state_dict".split())
# Calls that ask whether a number is finite.
ASKS_FINITE = frozenset("isnan isinf isfinite".split())
# Calls whose result has as many elements as the values say.
COUNTS = frozenset("""nonzero argwhere masked_select unique unique_consecutive repeat_interleave where
    bincount one_hot""".split())
COUNTS_IN_ARRAY = COUNTS | frozenset("""flatnonzero compress extract setdiff1d intersect1d union1d
    setxor1d trim_zeros query drop_duplicates""".split())
GIVES_TUPLE = frozenset("where nonzero".split())
# Methods of scikit-learn's models.
LEARNS = frozenset("""fit partial_fit fit_predict fit_transform predict predict_proba transform score
    decision_function kneighbors""".split())

# Calls that tell the time, a process or its memory.
TELLS = frozenset("""time time_ns perf_counter monotonic process_time now today utcnow strftime total_seconds
    elapsed_time getpid getsizeof gethostname get_rank memory_allocated max_memory_allocated memory_reserved
    max_memory_reserved get_last_lr""".split())

# Operators of PyTorch that read whether they worked, or a seed.
READS_OWN_STATE = frozenset("""cholesky cholesky_ex inv inv_ex inverse solve solve_ex lstsq lu lu_factor
    lu_factor_ex lu_solve ldl_factor ldl_factor_ex qr svd svdvals eig eigvals eigh eigvalsh pinv det
    slogdet logdet matrix_rank cond cholesky_inverse cholesky_solve lstm gru rnn_tanh
    rnn_relu""".split())
# Operators that give Python a number.
GIVES_NUMBER = frozenset("equal allclose is_nonzero item tolist bool int float complex".split())

MAKES_ARRAY = frozenset("DataFrame Series numpy asarray array frombuffer fromfile loadtxt genfromtxt memmap".split())
MAKES_MASK = frozenset("""isin isnan isinf isfinite logical_and logical_or logical_not logical_xor greater less
    equal""".split())
# Calls that keep what an array, a mask or a set is.
KEEPS = frozenset("copy astype reshape flatten ravel squeeze abs list tuple sorted".split())
KEEPS_MASK = KEEPS | frozenset("""tensor as_tensor from_numpy BoolTensor to cuda cpu bool detach clone
    tolist""".split())
# Calls that make a number of a collection, or give one of it.
REDUCES = frozenset("""int float bool len min max sum any all prod mean median average std var percentile quantile
    argmax argmin count index item get pop next""".split())
KEEPS_SET = KEEPS | frozenset("enumerate zip reversed items keys values most_common".split())
# Calls that make a tensor or an array of a list.
MAKES_TENSOR = frozenset("""tensor as_tensor from_numpy stack cat concatenate hstack vstack array asarray FloatTensor
    DoubleTensor LongTensor IntTensor BoolTensor Tensor""".split())
# Calls whose argument becomes an element of what they are called on, and those whose first one may be a key.
ADDS_ELEMENT = frozenset("append appendleft insert".split())
ADDS_KEY = frozenset("add setdefault".split())
MAPPINGS = frozenset("dict defaultdict Counter OrderedDict".split())
# Calls that look up a key or an index, or remove it.
FINDS_BY_KEY = frozenset("get pop setdefault".split())
# Calls that print in a progress bar or an average, and change a dict or a set.
UPDATES = frozenset("update state track report".split())
# Methods of a number, a text or an array that an index has chosen.
OF_CHOSEN = frozenset("""item tolist numpy cpu detach abs sum mean min max float int bool long round
    as_integer_ratio upper lower title capitalize strip lstrip rstrip ljust rjust center zfill format
    replace decode isoformat keys values items get""".split())
# Calls that pass their other arguments to the first, now or later.
BINDS = frozenset("partial submit".split())
# Methods that take a text to pieces.
TAKES_APART = frozenset("split rsplit splitlines partition rpartition".split())
# Calls that choose by a text, or search it.
DECIDES_BY_TEXT = frozenset("""getattr setattr hasattr delattr register_buffer register_parameter
    add_module get_submodule get_parameter get_buffer startswith endswith find rfind search match fullmatch
    findall finditer sub encode exec import_module parse_args parse_known_args Popen check_output check_call
    system""".split())
# Calls that read attributes whose names do not stand there.
REFLECTS = frozenset("getattr vars asdict astuple attrgetter".split())
